//! Give me a path, I give you a file there that its owner alone may read: for what was said to models and by them.
//!
//! Where a system or file system has no such rights, files are made as it makes them.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateUse {
    /// To write it anew.
    Replace,
    /// To write behind what it has.
    Append,
    /// To read and write what it has.
    Update,
}

/// Opens the file at `path`, or makes it. One that is there already and that others may read is taken from them; a
/// pipe or a device stays as it is.
pub fn private_file(path: &Path, usage: PrivateUse) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true);
    match usage {
        PrivateUse::Replace => options.truncate(true),
        PrivateUse::Append => options.append(true),
        PrivateUse::Update => options.read(true).truncate(false),
    };
    unix::at_birth(&mut options);
    let file = options.open(path)?;
    unix::tighten(&file)?;
    Ok(file)
}

/// Makes the folder at `path`, with those above it, for its owner alone; one that is there stays as it is.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    unix::folder_at_birth(&mut builder);
    builder.create(path)
}

#[cfg(unix)]
mod unix {
    use std::fs::{DirBuilder, File, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

    const OTHERS: u32 = 0o077;

    pub(super) fn at_birth(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    pub(super) fn folder_at_birth(builder: &mut DirBuilder) {
        builder.mode(0o700);
    }

    /// Nothing was written yet, so nothing was read. A file system that keeps no rights, or a file of somebody else,
    /// stays as it is.
    pub(super) fn tighten(file: &File) -> io::Result<()> {
        let known = file.metadata()?;
        let mode = known.permissions().mode();
        if known.is_file() && mode & OTHERS != 0 {
            let _ = file.set_permissions(Permissions::from_mode(mode & 0o7777 & !OTHERS));
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod unix {
    use std::fs::{DirBuilder, File, OpenOptions};

    pub(super) fn at_birth(_: &mut OpenOptions) {}
    pub(super) fn folder_at_birth(_: &mut DirBuilder) {}
    pub(super) fn tighten(_: &File) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};
    #[cfg(unix)]
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn files_are_their_owners_whatever_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        private_folder(&deep).unwrap();
        assert_eq!((mode(&deep), mode(&folder.path().join("a"))), (0o700, 0o700));
        for (usage, expected) in
            [(PrivateUse::Replace, "new"), (PrivateUse::Append, "oldnew"), (PrivateUse::Update, "newer")]
        {
            for there in [true, false] {
                let path = deep.join(format!("{usage:?}-{there}"));
                if there {
                    std::fs::write(&path, if usage == PrivateUse::Update { "older" } else { "old" }).unwrap();
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
                }
                let mut file = private_file(&path, usage).unwrap();
                assert_eq!(mode(&path), 0o600);
                file.write_all(b"new").unwrap();
                let mut text = std::fs::read_to_string(&path).unwrap();
                if usage == PrivateUse::Update {
                    text.clear();
                    file.rewind().unwrap();
                    file.read_to_string(&mut text).unwrap();
                }
                assert_eq!(text, if there { expected } else { "new" });
            }
        }
        assert!(private_file(Path::new("/dev/null"), PrivateUse::Replace).is_ok());
        assert_eq!(mode(Path::new("/dev/null")) & 0o006, 0o006, "what is no file of ours stays as it is");
    }
}
