/// Bounds the bytes of all uploads that wait in a gateway. A session reads its device's next upload from the network
/// only when there is room. One user's devices get at most half. While other users are connected and ``UploadPace``
/// applies, they get a sixteenth, because whatever is admitted is decoded at once, whenever it is applied. While
/// users of several places (``Peer``) are connected, each place gets at most half. Uploads are admitted in order of
/// arrival, but one that waits for its own user's or place's uploads keeps nobody else waiting. A single upload is
/// always admitted, however long.
actor UploadBudget {
    private struct Waiting {
        let number: Int
        let peer: Peer
        let byteCount: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The divisors of ``maximumByteCount`` for one user's devices: alone, and while others are connected.
    static let shares = (alone: 2, besideOthers: 16)
    /// The divisor for the users of one place while others are connected.
    static let placeShare = 2

    private let maximumByteCount: Int
    private let users: ConnectedUsers
    private(set) var byteCount = 0
    private(set) var byteCountOfUser: [String: Int] = [:]
    private var byteCountOfPlace: [String: Int] = [:]
    /// In order of arrival.
    private var waiting: [Waiting] = []
    private var nextNumber = 0

    var waitingCount: Int { waiting.count }

    init(maximumByteCount: Int, users: ConnectedUsers = ConnectedUsers()) {
        self.maximumByteCount = maximumByteCount
        self.users = users
    }

    /// Waits for room. Return it with ``release(_:of:)``.
    /// - Throws: `CancellationError` if the task is cancelled before there is room.
    func admit(_ wanted: Int, of peer: Peer) async throws {
        try Task.checkCancellation()
        let isBehind = waiting.contains { $0.peer.user == peer.user || hasShare(for: $0.byteCount, of: $0.peer) }
        guard isBehind || !hasRoom(for: wanted, of: peer) else { return change(peer, by: wanted) }
        let number = nextNumber
        nextNumber += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                waiting.append(Waiting(number: number, peer: peer, byteCount: wanted, continuation: $0))
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    func release(_ count: Int, of peer: Peer) {
        guard count > 0 else { return }
        change(peer, by: -count)
        admitWaiting()
    }

    private func change(_ peer: Peer, by count: Int) {
        byteCount += count
        let ofUser = (byteCountOfUser[peer.user] ?? 0) + count
        byteCountOfUser[peer.user] = ofUser > 0 ? ofUser : nil
        let ofPlace = (byteCountOfPlace[peer.place] ?? 0) + count
        byteCountOfPlace[peer.place] = ofPlace > 0 ? ofPlace : nil
    }

    private func hasShare(for wanted: Int, of peer: Peer) -> Bool {
        func isWithin(_ held: Int, _ share: Int) -> Bool { held == 0 || held + wanted <= maximumByteCount / share }
        let share = users.areSeveral ? Self.shares.besideOthers : Self.shares.alone
        return isWithin(byteCountOfUser[peer.user] ?? 0, share)
            && (!users.placesAreSeveral || isWithin(byteCountOfPlace[peer.place] ?? 0, Self.placeShare))
    }

    private func hasRoom(for wanted: Int, of peer: Peer) -> Bool {
        hasShare(for: wanted, of: peer) && (byteCount == 0 || byteCount + wanted <= maximumByteCount)
    }

    private func admitWaiting() {
        for next in waiting where hasShare(for: next.byteCount, of: next.peer) {
            // Uploads that wait for the total bound are not overtaken.
            guard hasRoom(for: next.byteCount, of: next.peer) else { return }
            change(next.peer, by: next.byteCount)
            waiting.removeAll { $0.number == next.number }
            next.continuation.resume()
        }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
        admitWaiting()
    }
}
