@_spi(Reflection) import Swift

/// Collects the properties of a class.
struct ObjectClassBuilder {
    private let type: ObjectBase.Type
    private let sample: ObjectBase
    private let outer: [ObjectBase.Type]
    private let indexed: Set<String>
    private let markdown: Set<String>
    private let place: (latitude: String, longitude: String)?
    private let mapping: [String: String]
    private let hints: [String: String]
    private let previousNames: [String: [String]]
    private let primaryKey: String?
    private var properties: [ObjectProperty] = []
    private var columns: [Column] = []
    private var lists: [ListProperty] = []
    private var targets: [ObjectBase.Type] = []
    private var propertyOfColumn: [Int] = []
    private var propertyOfList: [Int] = []
    private var linkingObjects: [String: LinkOrigin] = [:]
    private var problems: [String] = []

    init(_ type: ObjectBase.Type, inside outer: [ObjectBase.Type]) {
        self.type = type
        self.outer = outer + [type]
        sample = type.init()
        indexed = Set(type.indexedProperties())
        markdown = Set(type.markdownProperties())
        place = type.placeProperties()
        mapping = type.propertiesMapping()
        hints = type.propertyHints()
        previousNames = type.previousPropertyNames()
        primaryKey = (type as? Object.Type)?.primaryKey()
    }

    private var className: String { String(describing: type) }

    mutating func build() -> ObjectClass {
        let ignored = Set(type.ignoredProperties())
        var fields: [(name: String, offset: Int, wrapper: any AnyPersisted.Type)] = []
        var isPlain = true
        // Option 1 is `classType`: visits the fields of a class, superclasses first, with their byte offsets.
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { label, offset, fieldType, _ in
            guard let wrapper = fieldType as? any AnyPersisted.Type else {
                if fieldType != (any ObjectAccessor)?.self { isPlain = false }
                return true
            }
            let name = Self.propertyName(String(cString: label))
            if ignored.contains(name) { isPlain = false } else { fields.append((name, offset, wrapper)) }
            return true
        }
        for field in fields { add(field.name, field.offset, field.wrapper) }
        checkNames(fields.map(\.name))
        let object = type as? Object.Type
        let schema = ClassSchema(
            name: className, table: object?.tableName(), columns: columns, lists: lists,
            uniqueProperties: object?.uniqueProperties() ?? [], isTrashable: object?.isTrashable() ?? false,
            isEmbedded: object == nil, linkingObjects: linkingObjects,
            propertyNames: properties.filter { !$0.isComputed }.map(\.name),
            previousNames: type.previousClassNames(), problems: problems)
        return ObjectClass(
            type: type, schema: schema, properties: properties, targets: targets, propertyOfColumn: propertyOfColumn,
            propertyOfList: propertyOfList, isPlain: isPlain)
    }

    /// The property name for a wrapper's storage `_name`. A name that needs backticks in Swift has them here too, with
    /// no-break spaces in place of spaces.
    private static func propertyName(_ label: String) -> String {
        guard label.hasPrefix("`") else { return String(label.dropFirst()) }
        return String(label.dropFirst(2).dropLast().replacing("\u{A0}", with: " "))
    }

    /// Reports names from class functions that don't exist, because a typo would otherwise go unnoticed.
    private mutating func checkNames(_ names: [String]) {
        func check(_ name: String, _ function: String) {
            guard !names.contains(name) else { return }
            let hint = name.nearest(in: names).map { "; did you mean '\($0)'?" } ?? "."
            problems.append(
                "\(className).\(function) names '\(name)', which is not a property declared with @Persisted\(hint)")
        }
        for name in names where name.contains(".") {
            problems.append(
                "\(className).`\(name)` has a dot in its name. In key paths, a dot leads to a property of an embedded "
                    + "object: rename the property.")
        }
        if let primaryKey { check(primaryKey, "primaryKey()") }
        for name in indexed.sorted() { check(name, "indexedProperties()") }
        for name in markdown.sorted() {
            check(name, "markdownProperties()")
            if names.contains(name), !columns.contains(where: { $0.name == name && $0.canBeMarkdown }) {
                problems.append(
                    "\(className).markdownProperties() names '\(name)', which isn't a String: only strings can be "
                        + "Markdown.")
            }
        }
        for name in Set([place?.latitude, place?.longitude].compactMap(\.self)).sorted() {
            check(name, "placeProperties()")
            if names.contains(name), !columns.contains(where: { $0.name == name && $0.type == .double }) {
                problems.append(
                    "\(className).placeProperties() names '\(name)', which isn't a Double: coordinates are Doubles, in "
                        + "degrees.")
            }
        }
        if let place, place.latitude == place.longitude {
            problems.append(
                "\(className).placeProperties() names '\(place.latitude)' twice: name the latitude and the longitude.")
        }
        for name in mapping.keys.sorted() { check(name, "propertiesMapping()") }
        for name in hints.keys.sorted() { check(name, "propertyHints()") }
        for name in previousNames.keys.sorted() { check(name, "previousPropertyNames()") }
        for name in ((type as? Object.Type)?.uniqueProperties() ?? []).joined() where !name.contains(".") {
            check(name, "uniqueProperties()")
        }
    }

    private func coordinate(_ name: String) -> Column.Coordinate? {
        name == place?.latitude ? .latitude : name == place?.longitude ? .longitude : nil
    }

    private mutating func add(_ name: String, _ offset: Int, _ wrapper: any AnyPersisted.Type) {
        let valueType = wrapper.valueType
        let (declared, origin) = Self.declaration(wrapper, of: sample, at: offset)
        let sqlName = mapping[name] ?? Column.sqlName(for: name)
        let slot: ObjectProperty.Slot
        switch valueType._propertyType {
        case .list(let element, let isOptional):
            slot = addList(name, sqlName, valueType, element, isOptional)
        case .embedded:
            slot = .embedded(columns.count)
            addEmbedded(
                Column(
                    name: name, sqlName: sqlName, type: valueType._propertyType, isOptional: true,
                    hint: hints[name], previousNames: previousNames[name] ?? []), valueType)
        case .linkingObjects(let target):
            slot = .linkingObjects(origin: target, property: origin ?? "")
            linkingObjects[name] = LinkOrigin(className: target, property: origin ?? "")
            if let target = valueType._targetClass { targets.append(target) }
            if origin == nil {
                problems.append(
                    "\(className).\(name) doesn't name the property it comes from: declare @Persisted(originProperty: "
                        + "\"…\") var \(name): LinkingObjects<\(target)>.")
            }
        default:
            slot = .column(columns.count)
            if let target = valueType._targetClass { targets.append(target) }
            propertyOfColumn.append(properties.count)
            columns.append(
                Column(
                    name: name, sqlName: sqlName, type: valueType._propertyType, isOptional: valueType._isOptional,
                    isPrimaryKey: declared.contains(.primaryKey) || name == primaryKey,
                    isIndexed: declared.contains(.indexed) || indexed.contains(name),
                    isEncrypted: declared.contains(.encrypted),
                    deleteRule: declared.contains(.cascade) ? .cascade : .nullify,
                    allowedValues: AllowedValues(valueType._allowedValues), hint: hints[name],
                    isMarkdown: markdown.contains(name), coordinate: coordinate(name),
                    previousNames: previousNames[name] ?? []))
        }
        properties.append(
            ObjectProperty(
                name: name, offset: offset, wrapper: wrapper, slot: slot, position: properties.count))
    }

    /// The layout of an embedded class. If the class embeds itself, reports a problem and returns nil.
    private mutating func layout(of target: ObjectBase.Type, _ name: String) -> ObjectClass? {
        guard !outer.contains(where: { $0 == target }) else {
            problems.append(
                "Cycles containing embedded objects are not supported: '\(className).\(name)' leads back to "
                    + "\(target). Make one of the classes an Object and link to it.")
            return nil
        }
        let layout = ObjectClass.of(target, inside: outer)
        targets += layout.targets
        problems += layout.schema.problems
        return layout
    }

    private mutating func addEmbedded(_ presence: Column, _ valueType: any Persistable.Type) {
        propertyOfColumn.append(properties.count)
        columns.append(presence)
        guard let target = valueType._targetClass, let layout = layout(of: target, presence.name) else { return }
        for column in layout.schema.columns {
            propertyOfColumn.append(properties.count)
            columns.append(column.embedded(in: presence))
        }
        for list in layout.schema.lists {
            propertyOfList.append(properties.count)
            lists.append(list.embedded(in: presence))
        }
    }

    private mutating func addList(
        _ name: String, _ sqlName: String, _ valueType: any Persistable.Type, _ element: PropertyType,
        _ isOptional: Bool
    ) -> ObjectProperty.Slot {
        let isInside = type is EmbeddedObject.Type
        let kind: ListProperty.Element
        switch element {
        case .link(let target):
            if let target = valueType._targetClass { targets.append(target) }
            kind = .link(to: target)
        case .embedded:
            guard let target = valueType._targetClass, let layout = layout(of: target, name) else {
                return .array(addArray(name, sqlName, []))
            }
            if isInside, valueType._isProjection, layout.schema.lists.isEmpty {
                return .array(addArray(name, sqlName, layout.schema.columns.map(\.type)))
            }
            kind = .embedded(layout.schema)
        default:
            if isInside { return .array(addArray(name, sqlName, [element], AllowedValues(valueType._allowedValues))) }
            kind = .scalar(element, isOptional: isOptional)
        }
        propertyOfList.append(properties.count)
        lists.append(
            ListProperty(
                name: name, element: kind, sqlName: sqlName, allowedValues: AllowedValues(valueType._allowedValues),
                hint: hints[name], previousNames: previousNames[name] ?? []))
        return .list(lists.count - 1)
    }

    private mutating func addArray(
        _ name: String, _ sqlName: String, _ types: [PropertyType], _ allowedValues: AllowedValues? = nil
    ) -> Int {
        propertyOfColumn.append(properties.count)
        columns.append(
            Column(
                name: name, sqlName: sqlName, type: .array(types), allowedValues: allowedValues,
                hint: hints[name], previousNames: previousNames[name] ?? []))
        return columns.count - 1
    }

    private static func declaration(
        _ wrapper: any AnyPersisted.Type, of sample: ObjectBase, at offset: Int
    ) -> (PersistedOptions, originProperty: String?) {
        func read<Wrapper: AnyPersisted>(_: Wrapper.Type) -> (PersistedOptions, String?) {
            sample.withField(at: offset, Wrapper.self) { field in
                guard Wrapper.valueType is any LinkingObjectsProperty.Type else { return (field.declared, nil) }
                return (field.declared, (field.unmanagedValue().value as? any LinkingObjectsProperty)?._originProperty)
            }
        }
        return read(wrapper)
    }
}
