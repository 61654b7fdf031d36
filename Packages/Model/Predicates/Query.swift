/// The argument of `where {}`: `realm.objects(Listing.self).where { $0.price < 300_000 && $0.bedrooms >= 3 }`.
/// A `Query<T>` stands for an object or a property; comparisons make a `Query<Bool>`.
@dynamicMemberLookup
public struct Query<T> {
    package enum Node {
        case path([String])
        case predicate(Predicate)
    }

    package let node: Node

    package init(node: Node) { self.node = node }

    fileprivate var path: PropertyPath {
        guard case .path(let names) = node, !names.isEmpty else {
            preconditionFailure("The query compares something that is not a property.")
        }
        return PropertyPath(names)
    }

    fileprivate func appending<Root: ObjectBase, Value>(_ keyPath: KeyPath<Root, Value>) -> Query<Value> {
        guard case .path(let names) = node else {
            preconditionFailure("The query reads a property of a condition.")
        }
        return Query<Value>(node: .path(names + KeyPathRecorder.names(of: keyPath)))
    }
}

extension Query where T: Object {
    public subscript<Value>(dynamicMember keyPath: KeyPath<T, Value>) -> Query<Value> { appending(keyPath) }

    /// The predicate that a `where` block builds.
    public static func predicate(_ block: (Query<T>) -> Query<Bool>) -> Predicate {
        block(Query<T>(node: .path([]))).predicate
    }
}

extension Query {
    public subscript<Wrapped: ObjectBase, Value>(
        dynamicMember keyPath: KeyPath<Wrapped, Value>
    ) -> Query<Value> where T == Wrapped? { appending(keyPath) }
}

extension Query where T == Bool {
    package var predicate: Predicate {
        switch node {
        case .predicate(let predicate): predicate
        case .path: .compare(path, .equal, .bool(true))
        }
    }

    public static func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
        Query(node: .predicate(.all([left.predicate, right.predicate])))
    }

    public static func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
        Query(node: .predicate(.any([left.predicate, right.predicate])))
    }

    public static prefix func ! (query: Query<Bool>) -> Query<Bool> {
        Query(node: .predicate(.not(query.predicate)))
    }
}

extension Query where T: Persistable {
    private func compare(_ comparison: Predicate.Comparison, _ value: T) -> Query<Bool> {
        Query<Bool>(node: .predicate(.compare(path, comparison, literal(value))))
    }

    /// The stored form; a managed object stands for its primary key.
    private func literal(_ value: T) -> Value {
        guard T._targetClass != nil else { return value._value }
        guard let object = value as? Object else { return .null }
        let layout = ObjectClass.of(type(of: object))
        guard let key = layout.schema.primaryKeyIndex else {
            preconditionFailure("\(layout.schema.name) has no primary key to compare by.")
        }
        if let accessor = object.accessor { return accessor.value(at: key) }
        return layout.properties[layout.propertyOfColumn[key]].unmanagedValue(of: object).value._value
    }

    public static func == (left: Query<T>, right: T) -> Query<Bool> { left.compare(.equal, right) }
    public static func != (left: Query<T>, right: T) -> Query<Bool> { left.compare(.notEqual, right) }
    public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compare(.less, right) }
    public static func <= (left: Query<T>, right: T) -> Query<Bool> { left.compare(.lessOrEqual, right) }
    public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compare(.greater, right) }
    public static func >= (left: Query<T>, right: T) -> Query<Bool> { left.compare(.greaterOrEqual, right) }

    /// Membership in a collection of values.
    public func `in`(_ values: some Sequence<T>) -> Query<Bool> {
        Query<Bool>(node: .predicate(.isIn(path, values.map(literal))))
    }
}

extension Query where T: PersistableInteger {
    /// Within a closed range.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
        self >= range.lowerBound && self <= range.upperBound
    }
}

/// Options of text queries.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Folds the letters A–Z.
    public static let caseInsensitive = StringOptions(rawValue: 1)
}

/// Text properties: `String` and `String?`.
public protocol TextQueryable {}
extension String: TextQueryable {}
extension String?: TextQueryable {}

extension Query where T: TextQueryable {
    private func text(_ test: Predicate.TextTest, _ text: String, _ options: StringOptions) -> Query<Bool> {
        Query<Bool>(
            node: .predicate(.text(path, test, text, ignoringCase: options.contains(.caseInsensitive))))
    }

    public func contains(_ text: String, options: StringOptions = []) -> Query<Bool> {
        self.text(.contains, text, options)
    }

    public func starts(with text: String, options: StringOptions = []) -> Query<Bool> {
        self.text(.beginsWith, text, options)
    }

    public func ends(with text: String, options: StringOptions = []) -> Query<Bool> {
        self.text(.endsWith, text, options)
    }
}
