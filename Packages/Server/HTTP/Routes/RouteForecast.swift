import TomboloModel
import TomboloRules

/// What comes of a route's access for somebody, as far as it can be said without a request.
public enum RouteForecast: String, Hashable, Comparable, Sendable, CaseIterable {
    case refused
    /// For some objects: their own, those where they have a role, or what is published.
    case ownOnly = "own only"
    case allowed

    public static func < (a: RouteForecast, b: RouteForecast) -> Bool { a.order < b.order }

    private var order: Int {
        switch self {
        case .refused: 0
        case .ownOnly: 1
        case .allowed: 2
        }
    }

    /// Of the best of some operations on objects of the class where they're permitted most.
    init(_ subject: Subject, _ operations: (ClassSchema) -> [Operation], _ rules: Rules) {
        let found = rules.schema.classes.flatMap { item in
            operations(item).map { RouteForecast(subject, $0, item.name, rules) }
        }
        self = found.max() ?? .refused
    }

    /// Of an operation on objects of a class; refused for a class that isn't there.
    init(_ subject: Subject, _ operation: Operation, _ className: String, _ rules: Rules) {
        guard let index = rules.schema.index(of: className),
            case .allowed(let filter) = rules.authorize(subject, operation, .objects(classIndex: index))
        else {
            self = .refused
            return
        }
        switch filter {
        case .constant(let isAllowed): self = isAllowed ? .allowed : .refused
        default: self = .ownOnly
        }
    }
}
