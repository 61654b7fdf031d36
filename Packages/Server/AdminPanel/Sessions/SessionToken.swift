import Synchronization
import TomboloAuthentication

/// The token of a request's session: what its cookie holds, and from a renewal on what the next one will.
///
/// All copies of a ``PanelVisit`` share it, so that whatever answers the request sends the new cookie and makes forms for it,
/// a page about a failure too: without them the browser would be logged out.
final class SessionToken: Sendable {
    private struct State {
        var token: PanelToken
        var isRenewed = false
    }

    private let state: Mutex<State>

    init(_ token: PanelToken) { state = Mutex(State(token: token)) }

    var current: PanelToken { state.withLock { $0.token } }

    /// What the answer's cookie has to hold; nil if the browser has it.
    var renewed: PanelToken? { state.withLock { $0.isRenewed ? $0.token : nil } }

    func renew(_ token: PanelToken) { state.withLock { $0 = State(token: token, isRenewed: true) } }
}
