@_spi(Reflection) import Swift
import Synchronization

/// A model class with its schema and the place of every property in its instances. Built once for each class.
package struct ObjectClass: Sendable {
    package let type: Object.Type
    package let schema: ClassSchema
    /// In declaration order, superclasses first.
    package let properties: [ObjectProperty]
    /// Model classes that links and lists point to.
    package let targets: [Object.Type]
    /// Positions in ``properties``, by column and by list.
    package let propertyOfColumn: [Int]
    package let propertyOfList: [Int]

    /// The layout of a class, from a cache shared by all threads.
    package static func of(_ type: Object.Type) -> ObjectClass {
        let id = ObjectIdentifier(type)
        if let known = cache.withLock({ $0[id] }) { return known }
        let built = ObjectClass(reflecting: type)
        cache.withLock { $0[id] = built }
        return built
    }

    private static let cache = Mutex<[ObjectIdentifier: ObjectClass]>([:])

    private init(reflecting type: Object.Type) {
        let sample = type.init()
        var properties: [ObjectProperty] = []
        var columns: [Column] = []
        var lists: [ListProperty] = []
        var targets: [Object.Type] = []
        var propertyOfColumn: [Int] = []
        var propertyOfList: [Int] = []
        let indexed = Set(type.indexedProperties())
        // `classType` (1): the fields of a class, superclasses first, with their byte offsets.
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { label, offset, fieldType, _ in
            guard let wrapper = fieldType as? any AnyPersisted.Type else { return true }
            let name = String(String(cString: label).dropFirst())
            let valueType = wrapper.valueType
            let declared = Self.declaration(wrapper, of: sample, at: offset)
            if let target = valueType._targetClass { targets.append(target) }
            if case .list(let target) = valueType._propertyType {
                propertyOfList.append(properties.count)
                properties.append(
                    ObjectProperty(name: name, offset: offset, wrapper: wrapper, slot: .list(lists.count)))
                lists.append(ListProperty(name: name, target: target))
            } else {
                propertyOfColumn.append(properties.count)
                properties.append(
                    ObjectProperty(name: name, offset: offset, wrapper: wrapper, slot: .column(columns.count)))
                columns.append(
                    Column(
                        name: name, type: valueType._propertyType, isOptional: valueType._isOptional,
                        isPrimaryKey: declared.isPrimaryKey, isIndexed: declared.isIndexed || indexed.contains(name)))
            }
            return true
        }
        self.type = type
        self.properties = properties
        self.targets = targets
        self.propertyOfColumn = propertyOfColumn
        self.propertyOfList = propertyOfList
        self.schema = ClassSchema(
            name: String(describing: type), table: type.tableName(), columns: columns, lists: lists,
            uniqueProperties: type.uniqueProperties(), isTrashable: type.isTrashable())
    }

    private static func declaration(
        _ wrapper: any AnyPersisted.Type, of sample: Object, at offset: Int
    ) -> (isPrimaryKey: Bool, isIndexed: Bool) {
        func read<Wrapper: AnyPersisted>(_: Wrapper.Type) -> (Bool, Bool) {
            sample.withField(at: offset, Wrapper.self) { ($0.declaresPrimaryKey, $0.declaresIndex) }
        }
        return read(wrapper)
    }
}

/// One `@Persisted` property of a class.
package struct ObjectProperty: Sendable {
    package enum Slot: Sendable {
        case column(Int)
        case list(Int)
    }

    package let name: String
    /// Bytes from the start of an instance to the property wrapper.
    package let offset: Int
    package let wrapper: any AnyPersisted.Type
    package let slot: Slot

    /// The value that an unmanaged object holds, and whether it is a default.
    package func unmanagedValue(of object: Object) -> (value: any Persistable, isDefault: Bool) {
        func read<Wrapper: AnyPersisted>(_: Wrapper.Type) -> (any Persistable, Bool) {
            object.withField(at: offset, Wrapper.self) { $0.unmanagedValue() }
        }
        return read(wrapper)
    }

    /// Sets what an unmanaged object holds.
    package func setUnmanaged(_ stored: Value, _ linked: Object?, of object: Object) {
        func set<Wrapper: AnyPersisted>(_: Wrapper.Type) {
            object.withField(at: offset, Wrapper.self) { $0.setUnmanaged(stored, linked) }
        }
        set(wrapper)
    }

    fileprivate func attach(_ object: Object) {
        func attach<Wrapper: AnyPersisted>(_: Wrapper.Type) {
            let position: Int
            switch slot {
            case .column(let column): position = column
            case .list(let list): position = list
            }
            object.withField(at: offset, Wrapper.self) { $0.attach(property: position) }
        }
        attach(wrapper)
    }
}

extension Object {
    /// Makes the object managed: its properties read and write through the accessor from now on. Stores only.
    package final func attach(_ accessor: any ObjectAccessor, _ layout: ObjectClass) {
        self.accessor = accessor
        for property in layout.properties { property.attach(self) }
    }

    fileprivate func withField<Field, Result>(
        at offset: Int, _: Field.Type, _ body: (inout Field) -> Result
    ) -> Result {
        withExtendedLifetime(self) {
            let start = Unmanaged.passUnretained(self).toOpaque() + offset
            return body(&start.assumingMemoryBound(to: Field.self).pointee)
        }
    }
}

extension Schema {
    /// The schema of model classes and of every class that they link to.
    /// - Throws: ``SchemaError`` listing every problem.
    public static func of(_ types: [Object.Type]) throws(SchemaError) -> Schema {
        try Schema(modelClasses(reachableFrom: types).map { ObjectClass.of($0).schema })
    }

    /// The given classes and all that their links and lists lead to, each once.
    package static func modelClasses(reachableFrom types: [Object.Type]) -> [Object.Type] {
        var seen: Set<ObjectIdentifier> = []
        var result: [Object.Type] = []
        var waiting = types
        while let type = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            result.append(type)
            waiting.append(contentsOf: ObjectClass.of(type).targets)
        }
        return result
    }
}
