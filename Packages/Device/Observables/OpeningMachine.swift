/// The process of opening a user's Realm, across logins, logouts and switches. Each attempt has a number. Reports from
/// an attempt that's over are ignored.
struct OpeningMachine: Equatable {
    enum Phase: Equatable {
        /// Nobody has asked for the Realm. Leaves by `user`.
        case idle
        /// Leaves by `user`.
        case waitingForUser
        /// Leaves by `opened`, `failed`, `timedOut`, `cancelled`, `otherRealm`, and by `user` if that's a different
        /// user.
        case opening(user: String)
        /// The download failed, and the local file is being opened. Leaves like `opening`, except by `timedOut`.
        case openingLocally(user: String)
        /// The Realm is open, or opening has failed for good. Leaves by `user` if that's a different user, and by
        /// `otherRealm`.
        case over(user: String)

        var user: String? {
            switch self {
            case .idle, .waitingForUser: nil
            case .opening(let user), .openingLocally(let user), .over(let user): user
            }
        }
    }

    enum Event: Equatable {
        /// The current user's ID, or nil. The same ID again is ignored.
        case user(String?)
        /// The current user should open a different Realm now.
        case otherRealm
        case progress(attempt: Int)
        case opened(attempt: Int)
        case failed(attempt: Int)
        /// - Parameter isConnected: whether there is a connection by now. If so, the timeout doesn't matter.
        case timedOut(attempt: Int, isConnected: Bool)
        case cancelled
    }

    enum Action: Equatable {
        case showWaiting
        case showConnecting
        case showProgress
        case showOpen
        /// Shows the event's error, or the error for a timeout or cancellation.
        case showError
        /// Opens the current user's Realm after a download.
        case open(attempt: Int)
        /// Opens the current user's file as it is.
        case openFile(attempt: Int)
        /// Stops the attempt in progress.
        case stop
    }

    /// Whether the file is opened as it is if the download fails.
    let opensFileOnFailure: Bool
    private(set) var phase = Phase.idle
    private var attempt = 0

    init(opensFileOnFailure: Bool) { self.opensFileOnFailure = opensFileOnFailure }

    mutating func handle(_ event: Event) -> [Action] {
        switch (event, phase) {
        case (.user(nil), .waitingForUser): return []
        case (.user(nil), _): return leave() + enter(.waitingForUser, .showWaiting)
        case (.user(let id?), _) where id == phase.user: return []
        case (.user(let id?), _): return begin(id)
        case (.otherRealm, .opening(let id)), (.otherRealm, .openingLocally(let id)), (.otherRealm, .over(let id)):
            return begin(id)
        case (.progress(attempt), .opening): return [.showProgress]
        case (.opened(attempt), .opening(let id)), (.opened(attempt), .openingLocally(let id)):
            return enter(.over(user: id), .showOpen)
        case (.failed(attempt), .opening(let id)): return fail(id)
        case (.failed(attempt), .openingLocally(let id)): return enter(.over(user: id), .showError)
        case (.timedOut(attempt, isConnected: false), .opening(let id)): return [.stop] + fail(id)
        case (.cancelled, .opening(let id)), (.cancelled, .openingLocally(let id)):
            return [.stop] + enter(.over(user: id), .showError)
        case (.otherRealm, _), (.progress, _), (.opened, _), (.failed, _), (.timedOut, _), (.cancelled, _): return []
        }
    }

    private mutating func begin(_ user: String) -> [Action] {
        let actions = leave()
        attempt += 1
        return actions + enter(.opening(user: user), .showConnecting) + [.open(attempt: attempt)]
    }

    /// Ends an attempt in progress, because another attempt replaces it.
    private func leave() -> [Action] { if case .opening = phase { [.stop] } else { [] } }

    private mutating func enter(_ next: Phase, _ action: Action) -> [Action] {
        phase = next
        return [action]
    }

    private mutating func fail(_ user: String) -> [Action] {
        guard opensFileOnFailure else { return enter(.over(user: user), .showError) }
        phase = .openingLocally(user: user)
        return [.openFile(attempt: attempt)]
    }
}
