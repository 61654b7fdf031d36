import Synchronization
import TomboloAuthentication

/// The token of a request's session: the one in the cookie or, after a renewal, the one in the next cookie.
///
/// All copies of a ``PanelVisit`` share it, so that any response to the request sends the new cookie and makes forms
/// for it. That includes failure pages: otherwise the browser would be logged out.
final class SessionToken: Sendable {
    private struct State {
        var token: PanelToken
        var isRenewed = false
    }

    private let state: Mutex<State>

    init(_ token: PanelToken) { state = Mutex(State(token: token)) }

    var current: PanelToken { state.withLock { $0.token } }

    /// The token for the response's cookie; nil if the browser has it already.
    var renewed: PanelToken? { state.withLock { $0.isRenewed ? $0.token : nil } }

    func renew(_ token: PanelToken) { state.withLock { $0 = State(token: token, isRenewed: true) } }
}
