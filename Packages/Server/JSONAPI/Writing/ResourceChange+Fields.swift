import TomboloHTTP
import TomboloModel

extension ResourceChange {
    /// - Parameter item: the class that has the field's column or list.
    mutating func readField(
        _ field: ResourceField, _ json: JSON, of item: ClassSchema, into contents: inout ResourceContents,
        at pointer: RequestPointer
    ) {
        switch field.content {
        case .value(let column, let valueType):
            guard let value = value(json, valueType, at: pointer) else { return }
            set(column, value, of: item, into: &contents, at: pointer)
        case .array(let column, let types):
            guard let value = array(field, types, json, at: pointer) else { return }
            set(column, value, of: item, into: &contents, at: pointer)
        case .embedded(let column, let inner):
            readEmbedded(field, column, inner, json, of: item, into: &contents, at: pointer)
        case .values(let elements, _):
            guard let values = values(field, elements, json, at: pointer) else { return }
            contents.lists[elements] = values
        case .objects(let elements, let inner):
            guard let objects = objects(field, elements, inner, json, at: pointer) else { return }
            contents.objects[elements] = objects
        case .toOne, .toMany: break
        }
    }

    mutating func set(
        _ column: Int, _ value: Value, of item: ClassSchema, into contents: inout ResourceContents,
        at pointer: RequestPointer
    ) {
        let property = item.columns[column]
        do throws(ValueError) {
            try property.validate(value, linkKeyType: view.schema.keyType(ofLink: property))
        } catch {
            let isMissing = value.isNull && !property.isOptional
            let expected = ValueText.expected(property.type)
            let problem =
                switch property.type {
                case _ where isMissing: Wording("'\(property.name)' can't be empty.")
                // An integer fails here only if it's too large, so the message says what is expected.
                case .int: Wording("'\(property.name)' isn't \(expected).")
                default: error.wording
                }
            return refuse(
                pointer, problem, value.isNull ? Wording("Give it a value.") : Wording("Send \(expected)."))
        }
        // For a list in one column, the elements are checked instead.
        let allowed = view.allowedValues(of: column, in: item)
        if case .array = property.type {} else if !isAllowed(value, allowed, at: pointer) { return }
        if !isOnEarth(value, property.coordinate, at: pointer) { return }
        contents.values[column] = value
        contents.pointers[column] = pointer
    }

    // MARK: Lists

    /// Reads a list in one column.
    private mutating func array(
        _ field: ResourceField, _ types: [PropertyType], _ json: JSON, at pointer: RequestPointer
    ) -> Value? {
        guard json != .null else { return .null }
        guard case .array(let items) = json else {
            refuse(pointer, Wording("'\(field.name)' isn't a list."), Wording("Send a list of values."))
            return nil
        }
        var rows: [[Value]] = []
        for (index, element) in items.enumerated() {
            let parts: [JSON] = if types.count > 1, case .array(let found) = element { found } else { [element] }
            let place = pointer / "\(index)"
            guard parts.count == types.count else {
                refuse(
                    place, Wording("An element must have \(types.count) values."),
                    Wording("Send a list of that length."))
                continue
            }
            var row: [Value] = []
            for (part, type) in zip(parts, types) {
                guard let value = value(part, type, at: place) else { continue }
                row.append(value)
                guard !value.isNull else {
                    refuse(
                        place, Wording("An element can't be null."), Wording("Send \(ValueText.expected(type))."))
                    continue
                }
                guard Self.hasRoom(for: value, in: type) else {
                    refuse(place, Wording("The value isn't \(ValueText.expected(type))."), remedy(type))
                    continue
                }
                _ = isAllowed(value, field.allowedValues, at: place)
            }
            rows.append(row)
        }
        return .data(ArrayCoding.encode(rows, types))
    }

    /// Whether an integer is in its type's range. No database constraint checks that in such a list.
    private static func hasRoom(for value: Value, in type: PropertyType) -> Bool {
        guard case .int(let bits) = type, case .int(let number) = value else { return true }
        return number >> Int64(bits - 1) == 0 || number >> Int64(bits - 1) == -1
    }

    /// Reads a list of values with a table of its own.
    private mutating func values(
        _ field: ResourceField, _ elements: Int, _ json: JSON, at pointer: RequestPointer
    ) -> [Value]? {
        guard let items = items(json, field, at: pointer) else { return nil }
        let column = view.schema[elements].columns[ElementColumn.content]
        var contents: [Value] = []
        for (index, item) in items.enumerated() {
            let place = pointer / "\(index)"
            guard let value = value(item, view.schema.storedType(of: column), at: place) else { continue }
            do throws(ValueError) {
                try column.validate(value, linkKeyType: view.schema.keyType(ofLink: column))
                if isAllowed(value, column.allowedValues, at: place) { contents.append(value) }
            } catch {
                refuse(place, error.wording, Wording("Send a value that fits."))
            }
        }
        return contents
    }

    /// Reads a list of embedded objects.
    private mutating func objects(
        _ field: ResourceField, _ elements: Int, _ inner: [ResourceField], _ json: JSON, at pointer: RequestPointer
    ) -> [ResourceContents.Element]? {
        guard let items = items(json, field, at: pointer) else { return nil }
        var found: [ResourceContents.Element] = []
        var ids: Set<ObjectId> = []
        for (index, item) in items.enumerated() {
            let place = pointer / "\(index)"
            guard case .object(var members) = item else {
                refuse(place, "An element of '\(field.name)' isn't a JSON object.", "Send {\"name\": value, …}.")
                continue
            }
            let named = members.removeValue(forKey: ResourceField.elementID) ?? .null
            var id: ObjectId?
            if case .string(let text) = named { id = try? ObjectId(string: text) }
            guard id != nil || named == .null else {
                refuse(
                    place / ResourceField.elementID, "'id' isn't \(ValueText.expected(.objectId)).",
                    "Send the element's id, or leave it out for a new element.")
                continue
            }
            if let id, !ids.insert(id).inserted {
                refuse(
                    place / ResourceField.elementID, Wording("Two elements have the same 'id'."),
                    Wording("Leave it out for a new element."))
                continue
            }
            var element = ResourceContents.Element(id: id, pointer: place)
            readMembers(
                members, inner, of: view.schema[elements], Wording("An element of '\(field.name)'"),
                into: &element.contents,
                at: place)
            found.append(element)
        }
        return found
    }

    private mutating func items(_ json: JSON, _ field: ResourceField, at pointer: RequestPointer) -> [JSON]? {
        if case .array(let items) = json, items.count <= ResourcePlan.maximumElementCount { return items }
        refuse(
            pointer, Wording("'\(field.name)' isn't a list of at most \(ResourcePlan.maximumElementCount) elements."),
            Wording("Send a list."))
        return nil
    }

    // MARK: Embedded objects

    /// Reads an embedded object. It is written as a whole: members that aren't sent become null.
    private mutating func readEmbedded(
        _ field: ResourceField, _ column: Int, _ inner: [ResourceField], _ json: JSON, of item: ClassSchema,
        into contents: inout ResourceContents, at pointer: RequestPointer
    ) {
        switch json {
        case .null:
            set(column, .null, of: item, into: &contents, at: pointer)
            for part in inner { clear(part, of: item, into: &contents, at: pointer / part.name) }
        case .object(let members):
            set(column, .bool(true), of: item, into: &contents, at: pointer)
            readMembers(
                members, inner, of: item, Wording(untranslated: "'\(field.name)'"), into: &contents, at: pointer)
        default:
            refuse(pointer, "'\(field.name)' isn't a JSON object or null.", "Send {\"name\": value, …} or null.")
        }
    }

    /// - Parameter name: of what has the members, for messages.
    private mutating func readMembers(
        _ members: [String: JSON], _ inner: [ResourceField], of item: ClassSchema, _ name: Wording,
        into contents: inout ResourceContents, at pointer: RequestPointer
    ) {
        for other in members.keys.sorted() where !inner.contains(where: { $0.name == other }) {
            guard !hasAllProblems else { break }
            refuse(
                pointer / other, Wording("\(name) has no attribute '\(other.shortened(toByteCount: 60))'."),
                ResourceQuery.nearest(other, inner.map(\.name)))
        }
        for part in inner {
            let isRequired = part.column.map { !item.columns[$0].isOptional || item.columns[$0].isRequiredWhenPresent }
            if let value = members[part.name], !(isRequired == true && value == .null) {
                readField(part, value, of: item, into: &contents, at: pointer / part.name)
            } else if isRequired == true {
                refuse(
                    pointer / part.name, Wording("\(name) needs '\(part.name)'."),
                    Wording("Send it, or leave out everything that needs it."))
            } else {
                if let elements = part.elements { contents.unnamedLists.insert(elements) }
                clear(part, of: item, into: &contents, at: pointer / part.name)
            }
        }
    }

    /// Sets the value of a field whose object is null, or was sent without it.
    private mutating func clear(
        _ field: ResourceField, of item: ClassSchema, into contents: inout ResourceContents, at pointer: RequestPointer
    ) {
        switch field.content {
        case .value(let column, _), .array(let column, _): set(column, .null, of: item, into: &contents, at: pointer)
        case .embedded: readField(field, .null, of: item, into: &contents, at: pointer)
        case .values(let elements, _): contents.lists[elements] = []
        case .objects(let elements, _): contents.objects[elements] = []
        case .toOne, .toMany: break
        }
    }

    // MARK: Values

    /// - Returns: nil after a problem.
    private mutating func value(_ json: JSON, _ type: PropertyType, at pointer: RequestPointer) -> Value? {
        let value: Value? =
            switch (json, type) {
            case (.null, _): .null
            case (.bool(let flag), .bool): .bool(flag)
            case (.int(let number), .int): .int(number)
            case (.int(let number), .double), (.int(let number), .float): .double(Double(number))
            case (.double(let number), .double), (.double(let number), .float): .double(number)
            case (.int(let number), .decimal128): ValueText.value("\(number)", .decimal128)
            case (.string(let text), .double) where isOwn, (.string(let text), .float) where isOwn:
                ValueText.infinity(text)
            case (_, .bool), (_, .int), (_, .double), (_, .float): nil
            case (.string(let text), .string): .string(text)
            case (.string(let text), _): ValueText.value(text, type, isOwn: isOwn)
            default: nil
            }
        if value == nil {
            refuse(
                pointer, Wording("The value isn't \(ValueText.expected(type))."), remedy(type))
        }
        return value
    }

    /// What to send as a value of a type, in terms of JSON.
    private func remedy(_ type: PropertyType) -> Wording {
        let expected = ValueText.expected(type)
        guard !isForm else { return Wording("Send \(expected).") }
        switch type {
        case .bool, .int, .double, .float: return Wording("Send \(expected), without quotes.")
        default: return Wording("Send \(expected), as a JSON string.")
        }
    }
}
