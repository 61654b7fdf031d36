import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// What a session may request before its second factor has been given, or set up if it's mandatory.
enum PanelGate {
    /// The failure detail with the page that a refusal leads to.
    private static let page = "page"

    /// - Throws: ``RequestFailure`` with ``RequestFailure/Code/secondFactorRequired``.
    static func check(_ session: PanelSession, _ request: Request) throws {
        let path = request.uri.path
        guard path != LoginPages.logoutPath else { return }
        if !session.isComplete, path != CodePages.path {
            throw refusal(
                localized("Enter the code that your authenticator app shows."), leadingTo: CodePages.path)
        }
        if session.mustSetUp, path != LoginPages.passwordPath, path != SecondFactorPages.path,
            !path.hasPrefix("\(SecondFactorPages.path)/")
        {
            throw refusal(
                localized("Your account requires a second factor. Set it up first."),
                leadingTo: SecondFactorPages.path)
        }
    }

    private static func refusal(_ message: String, leadingTo path: String) -> RequestFailure {
        var failure = RequestFailure(.secondFactorRequired, message)
        failure.details[page] = .string(path)
        return failure
    }

    /// The page that a refusal leads to; nil for any other failure.
    static func page(of failure: RequestFailure) -> String? {
        failure.code == .secondFactorRequired ? failure.details[page]?.text : nil
    }
}
