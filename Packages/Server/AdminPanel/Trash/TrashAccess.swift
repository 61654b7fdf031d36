import AdminService
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Who may do what with the trash, decided as for its JSON routes.
struct TrashAccess: Sendable {
    private let rules: LiveRules

    init(_ rules: LiveRules) { self.rules = rules }

    private static func names(_ schema: Schema) -> [String] { Trash.classes(of: schema).map(\.name) }

    /// Access to an operation, combined with permission to list the trash.
    func to(_ operation: TomboloRules.Operation) -> RouteAccess<ClassesGrant> {
        let listing = RouteAccess.objects(.listTrash, ofAny: Trash.objectWords, Self.names, by: rules)
        guard operation != .listTrash else { return listing }
        return .objects(operation, ofAny: Trash.objectWords, Self.names, by: rules).and(listing)
    }

    /// Whether the rules permit an operation on some objects of a class.
    static func may(_ operation: TomboloRules.Operation, _ className: String, _ view: TrashView) -> Bool {
        view.rules.schema.index(of: className).map {
            view.rules.refusal(view.subject, operation, ofClassAt: $0) == nil
        } ?? false
    }

    /// The grant's filters, restricted to one class if one is chosen.
    /// - Throws: ``RequestFailure`` with status 404 for a class that the caller may not ask about.
    static func filters(
        _ grant: ClassesGrant, of chosen: String?
    ) throws -> [String: TomboloModel.Predicate] {
        guard let chosen else { return grant.filters }
        guard let filter = grant.filters[chosen] else {
            let names = grant.filters.keys.sorted().joined(separator: ", ")
            throw RequestFailure(
                .notFound, "No class with this name has a trash that you may view.",
                hint: "Choose among \(names).")
        }
        return [chosen: filter]
    }

    /// What the caller of another operation may see of the trash.
    static func listing(_ grant: ClassesGrant) -> TrashView {
        var filters: [String: TomboloModel.Predicate] = [:]
        for name in names(grant.rules.schema) {
            guard let index = grant.rules.schema.index(of: name),
                case .allowed(let filter) = grant.rules.authorize(
                    grant.subject, .listTrash, .objects(classIndex: index))
            else { continue }
            filters[name] = filter
        }
        return TrashView(subject: grant.subject, rules: grant.rules, filters: filters)
    }
}

/// What a user may see of the trash.
struct TrashView: Sendable {
    let subject: Subject
    let rules: Rules
    /// By class; classes without any visible trash are missing.
    let filters: [String: TomboloModel.Predicate]
}
