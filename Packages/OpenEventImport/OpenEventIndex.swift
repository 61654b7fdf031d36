/// Finds the records of one file by what references say of them.
struct OpenEventIndex {
    /// The file that the records are in.
    let file: String
    private var byID: [String: [Int]] = [:]
    private var byName: [String: [Int]] = [:]
    private let entries: [(id: String, name: String)]

    init(file: String, _ entries: [(id: String, name: String)]) {
        self.file = file
        self.entries = entries
        for (position, entry) in entries.enumerated() {
            byID[entry.id, default: []].append(position)
            byName[Self.key(entry.name), default: []].append(position)
        }
    }

    /// Blanks and case do not count: `Meeting Room 9 C` is `Meeting room 9C`.
    private static func key(_ name: String) -> String { name.lowercased().filter { !$0.isWhitespace } }

    enum Answer {
        case found(Int)
        /// Found by one of id and name while the other says something else.
        case likely(Int, String)
        case none(found: String)
    }

    func find(_ reference: OpenEventReference) -> Answer {
        let ids = reference.id.flatMap { byID[$0] } ?? []
        let names = reference.name.flatMap { byName[Self.key($0)] } ?? []
        let both = ids.filter(names.contains)
        if both.count == 1 { return .found(both[0]) }
        if both.count > 1 {
            return .likely(both[0], "\(reference.summary) fits \(both.count) records of \(file); the first was taken")
        }
        if reference.id == nil || reference.name == nil {
            let fitting = ids + names
            if fitting.count == 1 { return .found(fitting[0]) }
            return .none(
                found: fitting.isEmpty
                    ? "\(reference.summary), which is not there"
                    : "\(reference.summary), which fits \(fitting.count) records")
        }
        if names.count == 1 {
            let other = ids.first.map { "id \(entries[$0].id) is '\(entries[$0].name)'" } ?? "there is no such id"
            return .likely(names[0], "\(reference.summary): \(other) in \(file); the name was believed")
        }
        if ids.count == 1 {
            return .likely(
                ids[0], "\(reference.summary): the name in \(file) is '\(entries[ids[0]].name)'; the id was believed")
        }
        return .none(
            found: "\(reference.summary), which "
                + (ids.isEmpty && names.isEmpty ? "is not there" : "fits \(max(ids.count, names.count)) records"))
    }
}
