//! A local server with the manners, good and bad, of what stands between a person and a model.
#![allow(dead_code, unreachable_pub, reason = "tests share it, and each uses a part")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a server answers to a path.
#[derive(Clone)]
pub enum Reply {
    /// A file; ranges are honoured.
    File(Arc<Vec<u8>>),
    /// A file; ranges are ignored, as some mirrors do.
    Whole(Arc<Vec<u8>>),
    /// A file of which so many bytes come before the connection ends.
    Cut(Arc<Vec<u8>>, usize),
    /// A status with headers and no body.
    Status(u16, Vec<(&'static str, String)>),
    /// Nothing, for a while.
    Silence,
}

type Headers = HashMap<String, String>;

/// A server that notes what it is asked.
pub struct Server {
    /// Where it listens.
    pub address: String,
    seen: Arc<Mutex<Vec<(String, Headers)>>>,
}

impl Server {
    /// A server of these paths; where a path stands more than once, its replies come one after the other.
    pub fn start(replies: &[(&str, Reply)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let replies: Vec<(String, Reply)> =
            replies.iter().map(|(path, reply)| ((*path).to_owned(), reply.clone())).collect();
        let seen = Arc::default();
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (replies, log) = (replies.clone(), Arc::clone(&log));
                // A client that has seen enough hangs up: no error.
                std::thread::spawn(move || drop(answer(stream, &replies, &log)));
            }
        });
        Self { address, seen }
    }

    /// The paths that were asked for, in order.
    pub fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    /// The headers of a request.
    pub fn headers(&self, n: usize) -> Headers {
        self.seen.lock().unwrap()[n].1.clone()
    }
}

fn answer(
    mut stream: TcpStream,
    replies: &[(String, Reply)],
    log: &Mutex<Vec<(String, Headers)>>,
) -> std::io::Result<()> {
    let (path, headers) = request(&stream)?;
    let before = {
        let mut log = log.lock().unwrap();
        log.push((path.clone(), headers.clone()));
        log.iter().filter(|(p, _)| *p == path).count() - 1
    };
    let of_path: Vec<&Reply> = replies.iter().filter(|(p, _)| *p == path).map(|(_, r)| r).collect();
    match of_path.get(before.min(of_path.len().saturating_sub(1))) {
        None => head(&mut stream, 404, 0, &[]),
        Some(Reply::Silence) => {
            std::thread::sleep(Duration::from_secs(5));
            Ok(())
        }
        Some(Reply::Status(status, extra)) => head(&mut stream, *status, 0, extra),
        Some(Reply::Whole(bytes)) => {
            head(&mut stream, 200, bytes.len(), &[])?;
            stream.write_all(bytes)
        }
        Some(Reply::Cut(bytes, after)) => {
            head(&mut stream, 200, bytes.len(), &[])?;
            stream.write_all(&bytes[..*after])
        }
        Some(Reply::File(bytes)) => {
            let range = headers.get("range").and_then(|r| r.strip_prefix("bytes=0-")?.parse::<usize>().ok());
            let end = range.map_or(bytes.len(), |last| bytes.len().min(last + 1));
            let status = if range.is_some() { 206 } else { 200 };
            head(&mut stream, status, end, &[("ETag", "\"tag-1\"".to_owned())])?;
            stream.write_all(&bytes[..end])
        }
    }
}

/// The path and the headers that a client sends.
fn request(stream: &TcpStream) -> std::io::Result<(String, Headers)> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Headers::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { return Ok((path, headers)) };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
}

fn head(
    stream: &mut TcpStream,
    status: u16,
    length: usize,
    extra: &[(&'static str, String)],
) -> std::io::Result<()> {
    let mut text = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n");
    extra.iter().for_each(|(name, value)| write!(text, "{name}: {value}\r\n").unwrap());
    stream.write_all(format!("{text}\r\n").as_bytes())
}
