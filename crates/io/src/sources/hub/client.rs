//! HTTP as the hub speaks it: tokens, redirects, limits, and bodies that are read no further than needed.

use std::io::Read;
use std::time::Duration;

use ureq::http::{HeaderMap, Response, StatusCode, Uri};
use ureq::{Agent, Body};

use super::error::HubError;

/// Where and how to ask.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The hub, or a mirror of it.
    pub endpoint: String,
    /// The token to show to it, and to nobody else.
    pub token: Option<String>,
    /// How long to wait for a connection, and for an answer.
    pub patience: Duration,
    /// How long to wait for the whole of a body.
    pub body_patience: Duration,
    /// The longest wait that a rate limit may ask for.
    pub longest_wait: Duration,
}

/// The hub itself.
const HUB: &str = "https://huggingface.co";

/// Most hops to where a file lies: the hub sends on to its storage, mirrors to the hub.
const MAX_REDIRECTS: usize = 5;

/// Longest answer of the hub itself: a list of some thousand files.
const MAX_ANSWER_BYTES: u64 = 32 << 20;

impl Default for Settings {
    fn default() -> Self {
        Self {
            endpoint: HUB.into(),
            token: None,
            patience: Duration::from_secs(10),
            body_patience: Duration::from_secs(180),
            longest_wait: Duration::from_secs(10),
        }
    }
}

/// Asks the hub.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    settings: Settings,
}

/// An answer whose body has not been read.
#[derive(Debug)]
pub(super) struct Answer {
    response: Response<Body>,
    file: String,
}

impl Client {
    pub(super) fn new(settings: Settings) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(settings.patience))
            .timeout_recv_response(Some(settings.patience))
            .timeout_recv_body(Some(settings.body_patience))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("vramplan/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), settings }
    }

    /// Whether a token is shown.
    pub(super) fn has_token(&self) -> bool {
        self.settings.token.is_some()
    }

    /// Asks for a path of the hub; `most` bytes of its body at the most.
    pub(super) fn get(&self, path: &str, most: Option<u64>) -> Result<Answer, HubError> {
        let mut url = format!("{}{path}", self.settings.endpoint.trim_end_matches('/'));
        let mut may_wait = true;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask(&url, most)?;
            let status = response.status();
            if status.is_redirection() {
                url = location(&url, response.headers())?;
            } else if status == StatusCode::TOO_MANY_REQUESTS && may_wait {
                self.wait(response.headers())?;
                may_wait = false;
            } else if status.is_success() {
                let file = path.rsplit('/').next().unwrap_or(path).to_owned();
                return Ok(Answer { response, file });
            } else {
                return Err(self.refused(status, response.headers()));
            }
        }
        Err(HubError::BadAnswer("one redirect leads to the next".into()))
    }

    fn ask(&self, url: &str, most: Option<u64>) -> Result<Response<Body>, HubError> {
        let mut request = self.agent.get(url);
        if let Some(most) = most {
            request = request.header("Range", format!("bytes=0-{}", most.saturating_sub(1)));
        }
        // A token is for the hub: storage that it sends us on to carries its permission in the address.
        if let Some(token) = self.settings.token.as_ref().filter(|_| same_host(url, &self.settings.endpoint))
        {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        request.call().map_err(failed)
    }

    /// Waits as long as a rate limit asks for, if that is not too long.
    fn wait(&self, headers: &HeaderMap) -> Result<(), HubError> {
        let asked = retry_after(headers);
        match asked.filter(|wait| *wait <= self.settings.longest_wait) {
            Some(wait) => {
                std::thread::sleep(wait);
                Ok(())
            }
            None => Err(HubError::RateLimited { retry_after: asked }),
        }
    }

    fn refused(&self, status: StatusCode, headers: &HeaderMap) -> HubError {
        match status {
            // Without a token the hub answers so for what does not exist, too.
            StatusCode::UNAUTHORIZED if text(headers, "x-error-code") == Some("RepoNotFound") => {
                HubError::NotFound
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                HubError::Gated { with_token: self.has_token() }
            }
            StatusCode::NOT_FOUND => HubError::NotFound,
            StatusCode::TOO_MANY_REQUESTS => HubError::RateLimited { retry_after: retry_after(headers) },
            other => HubError::Status(other.as_u16()),
        }
    }
}

impl Answer {
    /// A header of the answer.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        text(self.response.headers(), name)
    }

    /// The whole body, if it is not longer than anything the hub answers.
    pub(super) fn bytes(self) -> Result<Vec<u8>, HubError> {
        let expected: Option<u64> = self.header("content-length").and_then(|n| n.parse().ok());
        let file = self.file.clone();
        if expected.is_some_and(|n| n > MAX_ANSWER_BYTES) {
            return Err(HubError::BadAnswer(format!("{file} of {} bytes", expected.unwrap_or(0))));
        }
        let mut bytes = Vec::new();
        let mut body = self.response.into_body().into_reader().take(MAX_ANSWER_BYTES + 1);
        let read = body.read_to_end(&mut bytes);
        let received = bytes.len() as u64;
        if read.is_err() || expected.is_some_and(|n| received < n) {
            return Err(HubError::Interrupted { file, received });
        }
        if received > MAX_ANSWER_BYTES {
            return Err(HubError::BadAnswer(format!("{file} of more than {MAX_ANSWER_BYTES} bytes")));
        }
        Ok(bytes)
    }

    /// The body, to be read as far as needed; what is left of it is never fetched.
    pub(super) fn reader(self) -> impl Read {
        self.response.into_body().into_reader()
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Seconds; dates are not read.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    text(headers, "retry-after").and_then(|n| n.trim().parse().ok()).map(Duration::from_secs)
}

/// Where a redirect leads.
fn location(from: &str, headers: &HeaderMap) -> Result<String, HubError> {
    let bad = |what: &str| HubError::BadAnswer(format!("a redirect to {what}"));
    let to = text(headers, "location").ok_or_else(|| bad("nowhere"))?;
    if let Some(path) = to.strip_prefix('/').filter(|rest| !rest.starts_with('/')) {
        let uri: Uri = from.parse().map_err(|_| bad(to))?;
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        return Ok(format!("{}://{host}/{path}", uri.scheme_str().unwrap_or("https")));
    }
    let is_web = to.starts_with("https://") || to.starts_with("http://");
    // What was asked for in secret is not asked for in the open.
    let downgraded = from.starts_with("https://") && to.starts_with("http://");
    if is_web && !downgraded { Ok(to.into()) } else { Err(bad(to)) }
}

fn same_host(a: &str, b: &str) -> bool {
    let place = |url: &str| {
        url.parse::<Uri>()
            .ok()
            .and_then(|uri| Some((uri.scheme_str()?.to_owned(), uri.authority()?.to_string())))
    };
    place(a).is_some_and(|here| place(b) == Some(here))
}

/// What kept a request from being answered.
fn failed(error: ureq::Error) -> HubError {
    match error {
        ureq::Error::Timeout(_) => HubError::Timeout,
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => HubError::Timeout,
        ureq::Error::BadUri(uri) => HubError::Unreachable(format!("{uri} is no address")),
        other => HubError::Unreachable(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirected(from: &str, to: &'static str) -> Result<String, HubError> {
        let mut headers = HeaderMap::new();
        headers.insert("location", to.parse().unwrap());
        location(from, &headers)
    }

    #[test]
    fn redirects_lead_on_but_not_into_the_open() {
        assert_eq!(redirected("https://a/b", "/c").unwrap(), "https://a/c");
        assert_eq!(redirected("https://a/b", "https://cdn/x").unwrap(), "https://cdn/x");
        assert_eq!(redirected("http://a:1/b", "/c?d").unwrap(), "http://a:1/c?d");
        for to in ["http://a/c", "file:///etc/passwd", "//evil/x", ""] {
            assert!(redirected("https://a/b", to).is_err(), "{to}");
        }
    }

    #[test]
    fn a_token_is_for_the_endpoint_alone() {
        assert!(same_host("https://hub/x", "https://hub"));
        assert!(!same_host("https://hub.evil/x", "https://hub"));
        assert!(!same_host("http://hub/x", "https://hub"));
        assert!(!same_host("https://hub:444/x", "https://hub"));
    }
}
