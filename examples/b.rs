//! scratch
fn main(){ let a: Vec<String> = std::env::args().collect(); let t = std::time::Instant::now();
 let r = a2kb::Builder::new().path(&a[1]).on_progress(|p| if std::env::var("P").is_ok() { println!("{:?} {p:?}", t.elapsed()) }).build(&a[2]).unwrap(); println!("{:?} {:?}", t.elapsed(), r.finished);
 for l in std::fs::read_to_string("/proc/self/status").unwrap().lines().filter(|l| l.starts_with("VmHWM")) { println!("{l}"); } }
