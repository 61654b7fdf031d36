public import TomboloModel

/// Which objects of a class a rule is about: a predicate with the subject left open.
public indirect enum RowFilter: Hashable, Sendable {
    case everything
    case matching(Predicate)
    /// The property holds the key of the subject's user.
    case own(String)
    /// The property holds the key of an object within which the subject has the rule's role.
    case inScope(String)
    case all([RowFilter])

    /// Whether the rule is for a role within a scope. Others apply only to roles without such a limit.
    var isScoped: Bool {
        switch self {
        case .everything, .matching, .own: false
        case .inScope: true
        case .all(let parts): parts.contains(where: \.isScoped)
        }
    }

    /// The predicate for a subject under a role; false where the subject lacks what the filter asks for.
    func predicate(for subject: Subject, as role: Role) -> Predicate {
        switch self {
        case .everything: return .constant(true)
        case .matching(let predicate): return predicate
        case .own(let property):
            guard let user = subject.userID else { return .constant(false) }
            return .compare(PropertyPath(property), .equal, .objectId(user))
        case .inScope(let property):
            let scopes = subject.scopes(of: role).map { Value.objectId($0) }
            guard let first = scopes.first else { return .constant(false) }
            return scopes.count == 1
                ? .compare(PropertyPath(property), .equal, first) : .isIn(PropertyPath(property), scopes)
        case .all(let parts): return .all(parts.map { $0.predicate(for: subject, as: role) })
        }
    }

    /// With placeholder keys, to check names and types against a class.
    var sample: Predicate {
        switch self {
        case .everything: .constant(true)
        case .matching(let predicate): predicate
        case .own(let property), .inScope(let property):
            .compare(PropertyPath(property), .equal, .objectId(ObjectId()))
        case .all(let parts): .and(parts.map(\.sample))
        }
    }

    /// Adds the filter to a fingerprint, its literals in full.
    func add(to hash: inout StableHash) {
        switch self {
        case .everything: hash.add(byte: 0)
        case .matching(let predicate):
            hash.add(byte: 1)
            hash.add(predicate)
        case .own(let property):
            hash.add(byte: 2)
            hash.add(property)
        case .inScope(let property):
            hash.add(byte: 3)
            hash.add(property)
        case .all(let parts):
            hash.add(byte: 4)
            hash.add(Int64(parts.count))
            for part in parts { part.add(to: &hash) }
        }
    }
}
