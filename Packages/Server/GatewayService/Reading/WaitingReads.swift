internal import DequeModule

/// The reads that wait for a slot: each user's in order of arrival, and the users in turns.
struct WaitingReads {
    private var reads: [String: Deque<Int>] = [:]
    private var users: [Int: String] = [:]
    /// Every user who waits, once: the one whose turn it is first.
    private var turns: Deque<String> = []

    var count: Int { users.count }
    var isEmpty: Bool { users.isEmpty }

    func hasReads(of user: String) -> Bool { reads[user] != nil }

    mutating func add(_ id: Int, user: String) {
        users[id] = user
        if reads[user] == nil { turns.append(user) }
        reads[user, default: []].append(id)
    }

    /// - Returns: whose it was; nil if the read doesn't wait.
    mutating func remove(_ id: Int) -> String? {
        guard let user = users.removeValue(forKey: id), let index = reads[user]?.firstIndex(of: id) else { return nil }
        reads[user]?.remove(at: index)
        if reads[user]?.isEmpty == true {
            reads[user] = nil
            turns.removeAll { $0 == user }
        }
        return user
    }

    /// Takes the next read of the user who holds the fewest slots, the first in turn among equals.
    /// - Parameters:
    ///   - held: slots that users hold.
    ///   - maximum: how many slots a user may hold.
    mutating func take(_ held: [String: Int], maximum: (String) -> Int) -> (id: Int, user: String)? {
        var found: (index: Int, held: Int)?
        for (index, user) in turns.enumerated() {
            let count = held[user] ?? 0
            guard count < maximum(user), count < found?.held ?? .max else { continue }
            found = (index, count)
            if count == 0 { break }
        }
        guard let found else { return nil }
        let user = turns.remove(at: found.index)
        guard let id = reads[user]?.popFirst() else { return nil }
        users[id] = nil
        if reads[user]?.isEmpty == true { reads[user] = nil } else { turns.append(user) }
        return (id, user)
    }
}
