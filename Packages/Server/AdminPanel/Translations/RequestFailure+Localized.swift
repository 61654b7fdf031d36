import TomboloHTTP
import TomboloLocalization

extension RequestFailure {
    /// What to do about it, for somebody who sees a page.
    var shownHint: String? { pageHint ?? hint }

    /// A failure in the language of the page, from literals. Other modules don't know about pages; they call
    /// `localized` for texts that people see there.
    init(
        _ code: Code, _ message: LocalizedMessage, hint: LocalizedMessage? = nil, pageHint: LocalizedMessage? = nil,
        properties: [String] = [], source: Source? = nil, cause: (any Error)? = nil
    ) {
        self.init(
            code, localized(message) as String, hint: hint.map { localized($0) },
            pageHint: pageHint.map { localized($0) }, properties: properties, source: source, cause: cause)
    }
}
