public import Tombolo

/// Which objects of a class a view lists, and in which order.
public struct QueryTerms: Equatable, Sendable {
    /// The Realm's configuration, or nil for that of the view's environment.
    public var configuration: Realm.Configuration?
    public var condition: Condition
    /// The properties whose changes count, or nil for all.
    public var keyPaths: [String]?
    /// The order, most significant first. Empty for the order of the file.
    public var sortDescriptors: [Tombolo.SortDescriptor]

    public init(
        configuration: Realm.Configuration? = nil, condition: Condition = .all, keyPaths: [String]? = nil,
        sortDescriptors: [Tombolo.SortDescriptor] = []
    ) {
        self.configuration = configuration
        self.condition = condition
        self.keyPaths = keyPaths
        self.sortDescriptors = sortDescriptors
    }

    public enum Condition: Equatable, Sendable {
        case all
        case matching(Filter)
        /// A string predicate without arguments.
        case format(String)

        /// The condition of a `where` block.
        public static func `where`<Element: Object>(
            _ block: (Query<Element>) -> Query<Bool>
        ) -> Condition { .matching(Query<Element>.filter(block)) }

        @MainActor
        func apply<Element: Object>(to results: Results<Element>) -> Results<Element> {
            switch self {
            case .all: results
            case .matching(let filter): results.filter(filter)
            case .format(let text): results.filter(text)
            }
        }
    }
}
