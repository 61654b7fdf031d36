/// Finds the records of one file from references to them. It also knows records that are set aside: a reference to
/// one of them must not find another record with the same id or name.
struct OpenEventIndex {
    /// What happened to a record.
    enum Fate {
        /// Its index among the imported records.
        case imported(Int)
        case setAside
    }

    struct Entry {
        let id: String
        let name: String
        let fate: Fate
    }

    /// The file that the records are in.
    let file: String
    private var byID: [String: [Int]] = [:]
    private var byName: [String: [Int]] = [:]
    private let entries: [Entry]

    init(file: String, _ entries: [Entry]) {
        self.file = file
        self.entries = entries
        for (position, entry) in entries.enumerated() {
            // A record that is set aside may lack either.
            if !entry.id.isEmpty { byID[entry.id, default: []].append(position) }
            if !entry.name.isEmpty { byName[Self.key(entry.name), default: []].append(position) }
        }
    }

    /// Spaces and case are ignored: `Meeting Room 9 C` is `Meeting room 9C`.
    private static func key(_ name: String) -> String { name.lowercased().filter { !$0.isWhitespace } }

    /// Positions are indexes into the imported records.
    enum Answer {
        case found(Int)
        /// Either the id or the name matched, and the other disagrees.
        case likely(Int, String)
        case setAside
        case none(found: String)
    }

    func find(_ reference: OpenEventReference) -> Answer {
        let (position, doubt): (Int, String?)
        switch search(reference) {
        case .found(let found): (position, doubt) = (found, nil)
        case .likely(let found, let message): (position, doubt) = (found, message)
        case let other: return other
        }
        switch entries[position].fate {
        case .imported(let place): return doubt.map { .likely(place, $0) } ?? .found(place)
        case .setAside: return .setAside
        }
    }

    private func isImported(_ position: Int) -> Bool {
        if case .imported = entries[position].fate { true } else { false }
    }

    /// Positions are indexes into all entries.
    private func search(_ reference: OpenEventReference) -> Answer {
        let ids = reference.id.flatMap { byID[$0] } ?? []
        let names = reference.name.flatMap { byName[Self.key($0)] } ?? []
        let both = ids.filter(names.contains)
        if both.count == 1 { return .found(both[0]) }
        if both.count > 1 {
            return .likely(
                both.first(where: isImported) ?? both[0],
                "\(reference.summary) matches \(both.count) records of \(file); the first was used")
        }
        if reference.id == nil || reference.name == nil {
            let fitting = ids + names
            if fitting.count == 1 { return .found(fitting[0]) }
            return .none(
                found: fitting.isEmpty
                    ? "\(reference.summary), which doesn't exist"
                    : "\(reference.summary), which matches \(fitting.count) records")
        }
        if names.count == 1 {
            let other = ids.first.map { "id \(entries[$0].id) is '\(entries[$0].name)'" } ?? "the id doesn't exist"
            return .likely(names[0], "\(reference.summary): \(other) in \(file); the name was used")
        }
        if ids.count == 1 {
            return .likely(
                ids[0], "\(reference.summary): the name in \(file) is '\(entries[ids[0]].name)'; the id was used")
        }
        return .none(
            found: "\(reference.summary), which "
                + (ids.isEmpty && names.isEmpty ? "doesn't exist" : "matches \(max(ids.count, names.count)) records"))
    }
}
