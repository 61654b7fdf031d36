internal import Foundation

/// The argument of `where {}`: `realm.objects(Listing.self).where { $0.price < 300_000 && $0.bedrooms >= 3 }`. A
/// `Query<T>` stands for an object, a property or the elements of a list. Comparing it gives a `Query<Bool>`.
///
/// A comparison of a property of a list's elements, `$0.dogs.age > 3`, holds if it does for at least one of them.
@dynamicMemberLookup
public struct Query<T> {
    package let node: QueryNode

    package init(node: QueryNode) { self.node = node }

    func condition(_ filter: Filter) -> Query<Bool> { Query<Bool>(node: .condition(filter)) }

    func appending<Root: ObjectBase, Value>(_ keyPath: KeyPath<Root, Value>) -> Query<Value> {
        guard case .path(var path) = node else {
            preconditionFailure("The query reads a property of a condition.")
        }
        let appended = KeyPathRecorder.path(of: keyPath)
        if appended.collectionNameCount > 0 {
            path.collectionNameCount = path.names.count + appended.collectionNameCount
        }
        path.names += appended.names
        return Query<Value>(node: .path(path))
    }
}

extension Query where T: ObjectBase {
    public subscript<Value>(dynamicMember keyPath: KeyPath<T, Value>) -> Query<Value> { appending(keyPath) }
}

extension Query {
    /// The condition built by a `where` block, on objects or on a list's elements.
    public static func filter(_ block: (Query<T>) -> Query<Bool>) -> Filter {
        block(Query<T>(node: .path(QueryPath()))).filter
    }
}

extension Query where T: Object {
    /// The condition built by a `where` block for a subscription or rule. Stops the program if it depends on more than
    /// one object's own properties.
    public static func predicate(_ block: (Query<T>) -> Query<Bool>) -> Predicate {
        do throws(ValueError) {
            return try filter(block).predicate(of: ObjectClass.of(T.self).schema)
        } catch {
            preconditionFailure(error.message)
        }
    }
}

extension Query {
    public subscript<Wrapped: ObjectBase, Value>(
        dynamicMember keyPath: KeyPath<Wrapped, Value>
    ) -> Query<Value> where T == Wrapped? { appending(keyPath) }
}

extension Query where T == Bool {
    package var filter: Filter {
        if case .condition(let filter) = node { return filter }
        return node.test { .compare($0, .equal, .literal(.bool(true)), []) }
    }

    public static func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
        left.condition(.all([left.filter, right.filter]))
    }

    public static func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
        left.condition(.any([left.filter, right.filter]))
    }

    public static prefix func ! (query: Query<Bool>) -> Query<Bool> { query.condition(.not(query.filter)) }

    /// The same condition as the text and arguments of a string predicate.
    public func _constructPredicate() -> (String, [Any]) {
        let (format, arguments) = filter.format()
        return (format, arguments.map(\.argument))
    }
}

extension Value {
    /// The value as an argument of a string predicate.
    fileprivate var argument: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .int(let value): Int(value)
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): Date(microsecondsSince1970: value)
        case .objectId(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        }
    }
}
