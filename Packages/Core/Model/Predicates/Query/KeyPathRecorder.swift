/// Turns a key path into property names by evaluating it on a temporary object that records its reads.
final class KeyPathRecorder: ObjectAccessor {
    private final class Trace {
        var path = QueryPath()
    }

    private let trace: Trace
    private let layout: ObjectClass

    private init(trace: Trace, layout: ObjectClass) {
        self.trace = trace
        self.layout = layout
    }

    /// The properties that a key path reads, in order. Stops the program for a property without `@Persisted`.
    static func path<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> QueryPath {
        let trace = Trace()
        guard let root = recorder(for: Root.self, trace) as? Root else {
            preconditionFailure("\(Root.self).init() returned an object of another class.")
        }
        _ = root[keyPath: keyPath]
        precondition(
            !trace.path.names.isEmpty,
            "The query uses a property of \(Root.self) that is not declared with @Persisted.")
        return trace.path
    }

    private static func recorder(for type: ObjectBase.Type, _ trace: Trace) -> ObjectBase {
        let object = type.init()
        let layout = ObjectClass.of(type)
        object.attach(KeyPathRecorder(trace: trace, layout: layout), layout)
        return object
    }

    private func record(_ property: ObjectProperty) { trace.path.names.append(property.name) }

    private func recordCollection(_ property: Int) {
        record(layout.properties[property])
        trace.path.collectionNameCount = trace.path.names.count
    }

    var isValid: Bool { true }

    func value(at column: Int) -> Value {
        record(layout.properties[layout.propertyOfColumn[column]])
        return layout.schema.columns[column].isOptional ? .null : layout.schema.columns[column].type.zero
    }

    func linkedObject(at column: Int) -> Object? {
        record(layout.properties[layout.propertyOfColumn[column]])
        let name = layout.schema.columns[column].linkTarget
        guard let target = layout.targets.first(where: { String(describing: $0) == name }) else { return nil }
        return Self.recorder(for: target, trace) as? Object
    }

    func embeddedObject(at column: Int) -> EmbeddedObject? {
        let property = layout.properties[layout.propertyOfColumn[column]]
        record(property)
        // Converting a projection would read the properties of its stored object.
        guard !property.valueType._isProjection else { return nil }
        return property.valueType._targetClass.flatMap { Self.recorder(for: $0, trace) as? EmbeddedObject }
    }

    func listStorage(ofProperty property: Int) -> any ListStorage {
        recordCollection(property)
        return NoElements()
    }

    func linkingStorage(ofProperty property: Int) -> any LinkingStorage {
        recordCollection(property)
        return NoElements()
    }

    func setValue(_ value: Value, at column: Int) { refuse() }
    func setLinkedObject(_ object: Object?, at column: Int) { refuse() }
    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int) { refuse() }

    private func refuse() -> Never { preconditionFailure("A query cannot change \(layout.schema.name).") }
}

extension PropertyPath {
    /// The names that a key path reads.
    package init<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) {
        self.init(KeyPathRecorder.path(of: keyPath).names)
    }
}

/// The empty elements of a recorder's list, which a query never reads.
private final class NoElements: ListStorage, LinkingStorage {
    var count: Int { 0 }
    var isValid: Bool { true }
    func element(at position: Int) -> Stored { refuse() }
    func object(at position: Int) -> Object { refuse() }
    func snapshot() -> AnyIterator<Stored> { refuse() }
    func snapshot() -> AnyIterator<Object> { refuse() }
    func insert(_ elements: [Stored], at position: Int) { refuse() }
    func replace(_ element: Stored, at position: Int) { refuse() }
    func remove(_ positions: Range<Int>) { refuse() }
    func move(from source: Int, to target: Int) { refuse() }

    private func refuse() -> Never {
        preconditionFailure("A query cannot select elements of a list; compare a property of all of them.")
    }
}
