/// Turns a key path into property names by running it on a throw-away object that writes down what is read.
final class KeyPathRecorder: ObjectAccessor {
    final class Trace {
        var names: [String] = []
    }

    private let trace: Trace
    private let layout: ObjectClass

    private init(trace: Trace, layout: ObjectClass) {
        self.trace = trace
        self.layout = layout
    }

    /// The property names that a key path reads, from first to last. Traps for a property without `@Persisted`.
    static func names<Root: ObjectBase, Value>(of keyPath: KeyPath<Root, Value>) -> [String] {
        let trace = Trace()
        guard let root = recorder(for: Root.self, trace) as? Root else {
            preconditionFailure("\(Root.self).init() made an object of another class.")
        }
        _ = root[keyPath: keyPath]
        precondition(
            !trace.names.isEmpty, "The query uses a property of \(Root.self) that is not declared with @Persisted.")
        return trace.names
    }

    static func recorder(for type: ObjectBase.Type, _ trace: Trace) -> ObjectBase {
        let object = type.init()
        let layout = ObjectClass.of(type)
        object.attach(KeyPathRecorder(trace: trace, layout: layout), layout)
        return object
    }

    var isValid: Bool { true }

    func value(at column: Int) -> Value {
        trace.names.append(layout.schema.columns[column].name)
        return layout.schema.columns[column].isOptional ? .null : layout.schema.columns[column].type.zero
    }

    func linkedObject(at column: Int) -> Object? {
        trace.names.append(layout.schema.columns[column].name)
        let name = layout.schema.columns[column].linkTarget
        guard let target = layout.targets.first(where: { String(describing: $0) == name }) as? Object.Type else {
            return nil
        }
        return Self.recorder(for: target, trace) as? Object
    }

    func embeddedObject(at column: Int) -> EmbeddedObject? {
        let property = layout.properties[layout.propertyOfColumn[column]]
        trace.names.append(property.name)
        return property.valueType._targetClass.flatMap { Self.recorder(for: $0, trace) as? EmbeddedObject }
    }

    func listStorage(ofProperty property: Int) -> any ListStorage {
        preconditionFailure("\(layout.schema.name).\(layout.properties[property].name) is a list.")
    }

    func linkingStorage(ofProperty property: Int) -> any LinkingStorage {
        preconditionFailure("\(layout.schema.name).\(layout.properties[property].name) is no scalar.")
    }

    func setValue(_ value: Value, at column: Int) {
        preconditionFailure("A query cannot change \(layout.schema.name).")
    }

    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int) {
        preconditionFailure("A query cannot change \(layout.schema.name).")
    }

    func setLinkedObject(_ object: Object?, at column: Int) {
        preconditionFailure("A query cannot change \(layout.schema.name).")
    }
}
