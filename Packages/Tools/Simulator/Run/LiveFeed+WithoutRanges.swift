internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Used only by a mutant: comparisons by order are never satisfied.
extension LiveFeed.Request {
    var withoutRanges: Self {
        let visibility = Visibility(predicates: view.visibility.predicates.mapValues(\.withoutRanges))
        return Self(
            member: member,
            view: LiveView(visibility: visibility, columns: view.columns, mask: view.mask, names: view.names),
            client: client, user: user, after: after)
    }
}

extension Predicate {
    fileprivate var withoutRanges: Predicate {
        switch self {
        case .compare(_, .less, _), .compare(_, .lessOrEqual, _), .compare(_, .greater, _),
            .compare(_, .greaterOrEqual, _):
            .constant(false)
        case .and(let parts): .and(parts.map(\.withoutRanges))
        case .or(let parts): .or(parts.map(\.withoutRanges))
        case .not(let inner): .not(inner.withoutRanges)
        case .constant, .compare, .isIn, .text: self
        }
    }
}
