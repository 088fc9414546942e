//! Any bytes as a header page whose checksums hold.
#![no_main]

use a2kb::internals::format::checksum::checksum;
use a2kb::internals::format::header::{HEADER_PAGE, Header, MAGIC};
use a2kb::internals::format::section_table::{ENTRY_LENGTH, SectionTable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut page = vec![0; HEADER_PAGE];
    let length = bytes.len().min(HEADER_PAGE);
    page[..length].copy_from_slice(&bytes[..length]);
    page[..8].copy_from_slice(&MAGIC);
    (page[8], page[9]) = (1, 0);
    let count = u32::from_le_bytes([page[12], page[13], page[14], page[15]]) as usize % 126;
    page[12..16].copy_from_slice(&(count as u32).to_le_bytes());
    let table = checksum(&page[64..64 + count * ENTRY_LENGTH]);
    page[40..44].copy_from_slice(&table.to_le_bytes());
    let header = checksum(&page[..60]);
    page[60..64].copy_from_slice(&header.to_le_bytes());
    if let Ok(header) = Header::decode(&page) {
        let _ = SectionTable::decode(&page, &header);
    }
});
