import TomboloModel
import TomboloRules

/// The outcome of a route's access for a subject, as far as it can be told without a request.
public enum RouteForecast: String, Hashable, Comparable, Sendable, CaseIterable {
    case refused
    /// For some objects: the subject's own, those where they have a role, or published ones.
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

    /// The best outcome of some operations, over all classes.
    init(_ subject: Subject, _ operations: (ClassSchema) -> [Operation], _ rules: Rules) {
        let found = rules.schema.classes.flatMap { item in
            operations(item).map { RouteForecast(subject, $0, item.name, rules) }
        }
        self = found.max() ?? .refused
    }

    /// The outcome of an operation on objects of a class; refused for a class that doesn't exist.
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
