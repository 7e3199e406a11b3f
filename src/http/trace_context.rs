/// The parts of a W3C `traceparent` header (Trace Context, level 1) that go into the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceParent<'a> {
    /// 32 hexadecimal digits, the same for all that a request causes.
    pub(super) trace_id: &'a str,
    /// 16 hexadecimal digits, the caller's own part.
    pub(super) parent_id: &'a str,
}

impl<'a> TraceParent<'a> {
    /// `version-trace_id-parent_id-flags`, in lower case. Versions to come may append fields.
    pub(super) fn parse(header: &'a str) -> Option<Self> {
        let mut fields = header.split('-');
        let version = fields.next().filter(|field| is_hex(field, 2))?;
        let trace_id = fields.next().filter(|field| is_id(field, 32))?;
        let parent_id = fields.next().filter(|field| is_id(field, 16))?;
        fields.next().filter(|field| is_hex(field, 2))?;
        let has_more = fields.next().is_some();
        let is_valid = version != "ff" && !(version == "00" && has_more);
        is_valid.then_some(Self {
            trace_id,
            parent_id,
        })
    }
}

fn is_hex(field: &str, length: usize) -> bool {
    field.len() == length
        && field
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// All zeros mean that there is none.
fn is_id(field: &str, length: usize) -> bool {
    is_hex(field, length) && field.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    #[rstest]
    #[case::as_specified("00-{T}-{P}-01", true)]
    #[case::not_sampled("00-{T}-{P}-00", true)]
    #[case::a_later_version("01-{T}-{P}-01-more", true)]
    #[case::more_than_this_version_has("00-{T}-{P}-01-more", false)]
    #[case::the_forbidden_version("ff-{T}-{P}-01", false)]
    #[case::no_trace("00-00000000000000000000000000000000-{P}-01", false)]
    #[case::no_parent("00-{T}-0000000000000000-01", false)]
    #[case::upper_case("00-4BF92F3577B34DA6A3CE929D0E0E4736-{P}-01", false)]
    #[case::too_short("00-{T}-{P}", false)]
    #[case::empty("", false)]
    fn a_header_is_read_or_left(#[case] header: &str, #[case] is_valid: bool) {
        let header = header.replace("{T}", TRACE).replace("{P}", PARENT);
        let expected = is_valid.then_some(TraceParent {
            trace_id: TRACE,
            parent_id: PARENT,
        });
        assert_eq!(TraceParent::parse(&header), expected);
    }
}
