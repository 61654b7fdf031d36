import TomboloHTTP

/// Why a page about devices is incomplete, and what to do about it.
struct DeviceProblem: Sendable {
    let message: String
    let hint: String?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    init(_ failure: RequestFailure) { self.init(failure.message, hint: failure.shownHint) }
}
