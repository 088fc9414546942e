//! Give me a byte string, I give you its number: a checked walk over the automaton of chapter 1 of the specification.
//!
//! The writer is the `fst` crate; this reader checks every address, because bytes may come from strangers.
//! Transitions lead to smaller addresses only, so every walk ends; walks over many keys carry a budget of steps
//! besides.

use crate::base::error::ReadError;
use crate::base::limits::MAX_TRANSDUCER_STEPS;
use crate::base::work::Work;
use crate::format::section::{SectionBytes, u64_at};

const VERSION: u64 = 3;
/// Version and type stand before the first node.
const HEAD_LENGTH: usize = 16;
/// Number of keys, address of the root and checksum stand behind the last.
const TAIL_LENGTH: usize = 20;
/// Steps of a walk that are paid for at once, and what each costs: decoding a node takes longer than reading a number.
const PAID_STEPS: usize = 64;
const COST_OF_A_STEP: usize = 16;
/// Nodes with more transitions carry an index of 256 bytes.
const INDEX_THRESHOLD: usize = 32;
/// Input bytes with a code of their own: code 1 is the first.
const COMMON_INPUTS: &[u8; 63] = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG";

/// A view of a transducer.
#[derive(Clone, Debug)]
pub struct Transducer {
    section: SectionBytes,
    nodes_end: usize,
    root: usize,
    key_count: u64,
    max_key_bytes: usize,
}

/// A state of a walk: the sum of outputs so far and the node reached.
#[derive(Clone, Copy, Debug)]
pub struct TransducerState {
    node: TransducerNode,
    output: u64,
}

#[derive(Clone, Copy, Debug)]
struct TransducerNode {
    /// First byte of the node.
    start: usize,
    /// The transitions' inputs, last transition first in the file; one implied input if `code` is set.
    inputs: usize,
    count: usize,
    /// Input of a node with one transition.
    single: Option<u8>,
    index: Option<usize>,
    delta_bytes: usize,
    output_bytes: usize,
    is_final: bool,
    final_output: u64,
    /// The only transition leads to the node just before this one.
    next: bool,
}

const EMPTY_FINAL: TransducerNode = TransducerNode {
    start: 0,
    inputs: 0,
    count: 0,
    single: None,
    index: None,
    delta_bytes: 0,
    output_bytes: 0,
    is_final: true,
    final_output: 0,
    next: false,
};

impl Transducer {
    /// Parses head and tail; O(1). Longer keys than `max_key_bytes` are damage.
    pub fn new(section: &SectionBytes, max_key_bytes: usize) -> Result<Self, ReadError> {
        let bytes = section.bytes();
        if bytes.len() < HEAD_LENGTH + TAIL_LENGTH {
            return Err(section.corrupt(0, "too short for a transducer"));
        }
        if u64_at(bytes, 0) != VERSION {
            return Err(section.corrupt(0, "unknown version of the transducer"));
        }
        let nodes_end = bytes.len() - TAIL_LENGTH;
        let root = u64_at(bytes, nodes_end + 8);
        if root != 0 && (root < HEAD_LENGTH as u64 || root >= nodes_end as u64) {
            return Err(section.corrupt(nodes_end + 8, "the root lies outside"));
        }
        let key_count = u64_at(bytes, nodes_end);
        Ok(Transducer { section: section.clone(), nodes_end, root: root as usize, key_count, max_key_bytes })
    }

    /// How many keys there are, by the file's word.
    pub fn key_count(&self) -> u64 {
        self.key_count
    }

    /// The state before the first byte.
    pub fn start(&self) -> Result<TransducerState, ReadError> {
        Ok(TransducerState { node: self.node(self.root)?, output: 0 })
    }

    /// The state after `byte`, if a key goes on so.
    #[inline]
    pub fn step(&self, state: &TransducerState, byte: u8) -> Result<Option<TransducerState>, ReadError> {
        match self.find(&state.node, byte)? {
            None => Ok(None),
            Some(index) => self.follow(state, index).map(|(_, state)| Some(state)),
        }
    }

    /// The value of the key that ends in this state.
    #[inline]
    pub fn value(&self, state: &TransducerState) -> Option<u64> {
        state.node.is_final.then(|| state.output.wrapping_add(state.node.final_output))
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<u64>, ReadError> {
        let mut state = self.start()?;
        for &byte in key {
            match self.step(&state, byte)? {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
        Ok(self.value(&state))
    }

    /// Visits the keys below `prefix` in order. `enter` sees each longer and longer key and says whether to go on
    /// below it; `each` gets the finished keys and says whether to go on at all. Fails if the walk takes more
    /// steps than any honest file needs.
    pub fn walk(
        &self,
        prefix: &[u8],
        mut enter: impl FnMut(&[u8]) -> bool,
        mut each: impl FnMut(&[u8], u64) -> bool,
    ) -> Result<(), ReadError> {
        let mut state = self.start()?;
        for &byte in prefix {
            match self.step(&state, byte)? {
                Some(next) => state = next,
                None => return Ok(()),
            }
        }
        let mut key = prefix.to_vec();
        if self.value(&state).is_some_and(|value| !each(&key, value)) {
            return Ok(());
        }
        self.section.spend(Work::Steps, PAID_STEPS * COST_OF_A_STEP)?;
        let mut stack = vec![(state, 0)];
        let mut steps = 0;
        while let Some((state, next)) = stack.last_mut() {
            if *next == state.node.count {
                stack.pop();
                key.pop();
                continue;
            }
            steps += 1;
            if steps % PAID_STEPS == 0 {
                self.section.spend(Work::Steps, PAID_STEPS * COST_OF_A_STEP)?;
            }
            if steps > MAX_TRANSDUCER_STEPS {
                return Err(self.section.corrupt(0, "a walk over the transducer does not end"));
            }
            let (byte, child) = self.follow(state, *next)?;
            *next += 1;
            key.push(byte);
            if key.len() > self.max_key_bytes {
                return Err(self.section.corrupt(state.node.start, "a key is longer than the limit"));
            }
            if !enter(&key) {
                key.pop();
                continue;
            }
            if self.value(&child).is_some_and(|value| !each(&key, value)) {
                return Ok(());
            }
            stack.push((child, 0));
        }
        Ok(())
    }

    fn follow(&self, state: &TransducerState, index: usize) -> Result<(u8, TransducerState), ReadError> {
        let node = &state.node;
        let (input, target) = if node.next {
            (node.single.unwrap_or(0), node.start.wrapping_sub(1))
        } else {
            let input = match node.single {
                Some(byte) => byte,
                None => self.byte(node.inputs + node.count - 1 - index)?,
            };
            let deltas = node.inputs - node.count * node.delta_bytes;
            let delta = self.number(deltas + (node.count - 1 - index) * node.delta_bytes, node.delta_bytes)?;
            (input, if delta == 0 { 0 } else { (node.start as u64).wrapping_sub(delta) as usize })
        };
        if target >= node.start {
            return Err(self.section.corrupt(node.start, "a transition does not lead backwards"));
        }
        let output = if node.output_bytes == 0 {
            0
        } else {
            let outputs = node.inputs - node.count * (node.delta_bytes + node.output_bytes);
            self.number(outputs + (node.count - 1 - index) * node.output_bytes, node.output_bytes)?
        };
        Ok((input, TransducerState { node: self.node(target)?, output: state.output.wrapping_add(output) }))
    }

    #[inline]
    fn find(&self, node: &TransducerNode, byte: u8) -> Result<Option<usize>, ReadError> {
        if let Some(single) = node.single {
            return Ok((single == byte).then_some(0));
        }
        if let Some(index) = node.index {
            let place = usize::from(self.byte(index + usize::from(byte))?);
            return Ok((place < node.count).then_some(place));
        }
        let inputs = self.section.range(node.inputs, node.count)?;
        Ok(inputs.iter().position(|&input| input == byte).map(|place| node.count - 1 - place))
    }

    /// Decodes the node whose last byte is at `address`. All ranges it names lie inside the nodes' bytes.
    fn node(&self, address: usize) -> Result<TransducerNode, ReadError> {
        if address == 0 {
            return Ok(EMPTY_FINAL);
        }
        if address < HEAD_LENGTH || address >= self.nodes_end {
            return Err(self.section.corrupt(address, "a transition leads outside"));
        }
        let form = self.byte(address)?;
        let mut at = Backwards { transducer: self, at: address };
        if form & 0x80 != 0 {
            let code = usize::from(form & 0x3F);
            let input = if code == 0 { self.byte(at.back(1)?)? } else { COMMON_INPUTS[code - 1] };
            let next = form & 0x40 != 0;
            let (delta_bytes, output_bytes) = if next { (0, 0) } else { at.sizes()? };
            let inputs = at.at;
            at.back(delta_bytes + output_bytes)?;
            return Ok(TransducerNode {
                start: at.at,
                inputs,
                count: 1,
                single: Some(input),
                delta_bytes,
                output_bytes,
                is_final: false,
                next,
                ..EMPTY_FINAL
            });
        }
        let is_final = form & 0x40 != 0;
        let mut count = usize::from(form & 0x3F);
        if count == 0 {
            count = usize::from(self.byte(at.back(1)?)?);
            if count == 1 {
                count = 256;
            }
        }
        let (delta_bytes, output_bytes) = at.sizes()?;
        let index = if count > INDEX_THRESHOLD { Some(at.back(256)?) } else { None };
        let inputs = at.back(count)?;
        at.back(count * (delta_bytes + output_bytes))?;
        let final_output =
            if is_final && output_bytes > 0 { self.number(at.back(output_bytes)?, output_bytes)? } else { 0 };
        Ok(TransducerNode {
            start: at.at,
            inputs,
            count,
            single: None,
            index,
            delta_bytes,
            output_bytes,
            is_final,
            final_output,
            next: false,
        })
    }

    #[inline]
    fn byte(&self, at: usize) -> Result<u8, ReadError> {
        self.section.bytes().get(at).copied().ok_or_else(|| self.section.corrupt(at, "a node runs over the end"))
    }

    #[inline]
    fn number(&self, at: usize, length: usize) -> Result<u64, ReadError> {
        let mut word = [0; 8];
        word[..length].copy_from_slice(self.section.range(at, length)?);
        Ok(u64::from_le_bytes(word))
    }

    /// Visits every key, and checks that they are in order, as many as promised, and that `valid` holds for each
    /// value.
    pub fn check(&self, mut valid: impl FnMut(u64) -> bool) -> Result<(), ReadError> {
        // A shared suffix is walked once per key, so the budget of one walk does not fit; the promised count bounds it
        // instead.
        let (mut count, mut bad) = (0u64, false);
        let mut last: Vec<u8> = Vec::new();
        let mut first_bytes: Vec<u8> = Vec::new();
        let start = self.start()?;
        for index in 0..start.node.count {
            first_bytes.push(self.follow(&start, index)?.0);
        }
        if self.value(&start).is_some_and(|value| !valid(value)) {
            bad = true;
        }
        count += u64::from(self.value(&start).is_some());
        for byte in first_bytes {
            self.walk(
                &[byte],
                |_| true,
                |key, value| {
                    count += 1;
                    bad |= !valid(value) || last.as_slice() >= key || count > self.key_count;
                    last.clear();
                    last.extend_from_slice(key);
                    !bad
                },
            )?;
        }
        if bad || count != self.key_count {
            return Err(self
                .section
                .corrupt(0, "keys out of order, a wrong count of them, or a value that names nothing"));
        }
        Ok(())
    }
}

/// Moves backwards over a node's bytes and never before the first node.
struct Backwards<'a> {
    transducer: &'a Transducer,
    at: usize,
}

impl Backwards<'_> {
    fn back(&mut self, length: usize) -> Result<usize, ReadError> {
        self.at = self
            .at
            .checked_sub(length)
            .filter(|&at| at >= HEAD_LENGTH)
            .ok_or_else(|| self.transducer.section.corrupt(self.at, "a node runs over the start"))?;
        Ok(self.at)
    }

    fn sizes(&mut self) -> Result<(usize, usize), ReadError> {
        let place = self.back(1)?;
        let byte = self.transducer.byte(place)?;
        let (delta_bytes, output_bytes) = (usize::from(byte >> 4), usize::from(byte & 0xF));
        if delta_bytes > 8 || output_bytes > 8 {
            return Err(self.transducer.section.corrupt(place, "a number of more than eight bytes"));
        }
        Ok((delta_bytes, output_bytes))
    }
}

/// Builds a transducer from keys in increasing order.
#[cfg(feature = "build")]
pub struct TransducerWriter(fst::MapBuilder<Vec<u8>>);

#[cfg(feature = "build")]
impl Default for TransducerWriter {
    fn default() -> Self {
        TransducerWriter(fst::MapBuilder::memory())
    }
}

#[cfg(feature = "build")]
impl TransducerWriter {
    /// Adds a key; keys come in strictly increasing order of their bytes.
    pub fn push(&mut self, key: &str, value: u64) {
        debug_assert!(!key.is_empty());
        self.0.insert(key, value).expect("keys come in order, and memory does not fail");
    }

    /// The section's bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0.into_inner().expect("memory does not fail")
    }
}

#[cfg(all(test, feature = "build"))]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn build(map: &BTreeMap<Vec<u8>, u64>) -> Vec<u8> {
        let mut builder = fst::MapBuilder::memory();
        map.iter().for_each(|(key, &value)| builder.insert(key, value).unwrap());
        builder.into_inner().unwrap()
    }

    fn open(bytes: Vec<u8>) -> Result<Transducer, ReadError> {
        Transducer::new(&SectionBytes::new("TEST", Bytes::from(bytes)), 64)
    }

    fn maps() -> impl Strategy<Value = BTreeMap<Vec<u8>, u64>> {
        let key = prop_oneof![prop::collection::vec(any::<u8>(), 0..4), "[abt]{0,6}".prop_map(String::into_bytes)];
        prop::collection::btree_map(key, prop_oneof![0u64..9, any::<u64>()], 0..400)
    }

    proptest! {
        #[test]
        fn equals_the_map(map in maps(), probes in prop::collection::vec("[abt]{0,6}", 9)) {
            let transducer = open(build(&map)).unwrap();
            for (key, &value) in &map {
                prop_assert_eq!(transducer.get(key).unwrap(), Some(value));
            }
            for probe in &probes {
                prop_assert_eq!(transducer.get(probe.as_bytes()).unwrap(), map.get(probe.as_bytes()).copied());
            }
            let mut all = BTreeMap::new();
            transducer.walk(b"", |_| true, |key, value| { all.insert(key.to_vec(), value); true }).unwrap();
            prop_assert_eq!(&all, &map);
            transducer.check(|_| true).unwrap();
        }

        #[test]
        fn damaged_bytes_are_read_or_refused(
            map in maps(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        ) {
            let mut bytes = build(&map);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if let Ok(transducer) = open(bytes) {
                for key in map.keys() {
                    let _ = transducer.get(key);
                }
                let mut left = 10_000;
                let _ = transducer.walk(b"", |_| { left -= 1; left > 0 }, |_, _| true);
            }
        }
    }

    #[test]
    fn wide_nodes_have_an_index() {
        let map: BTreeMap<Vec<u8>, u64> = (0..=255u8).map(|byte| (vec![byte], u64::from(byte) * 3)).collect();
        let transducer = open(build(&map)).unwrap();
        assert!(map.iter().all(|(key, &value)| transducer.get(key).unwrap() == Some(value)));
    }
}
