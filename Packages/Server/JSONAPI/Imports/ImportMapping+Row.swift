import Foundation
import TomboloHTTP
import TomboloModel

extension ImportMapping {
    /// A row as the members of a resource, in the form in which the server writes them.
    struct Parsed: Sendable {
        var attributes: [String: JSON] = [:]
        var relationships: [String: JSON] = [:]
        /// The id that the row names.
        var id: Value?

        var members: JSON { ["attributes": .object(attributes), "relationships": .object(relationships)] }
    }

    /// A row as far as it can be read, with everything that can't, and where it is.
    struct Reading: Sendable {
        var parsed = Parsed()
        var problems: [RequestFailure] = []
    }

    /// - Throws: ``RequestFailure`` with everything that can't be read.
    func parse(_ source: ImportSource) throws -> Parsed {
        let reading = read(source)
        guard reading.problems.isEmpty else { throw RequestFailure.together(reading.problems) }
        return reading.parsed
    }

    /// - Parameter names: the resources found by their titles. A row with a title that leads to none, or to several, is
    ///   refused with the reason.
    func read(_ source: ImportSource, _ names: ImportNames = ImportNames()) -> Reading {
        var parsed = Parsed()
        var idCell = Cell(source: source, names: names, problems: [])
        parsed.id = id(&idCell)
        var problems = idCell.problems
        for member in members {
            let field = member.field
            let part = RequestPointer() / (field.isRelationship ? "relationships" : "attributes")
            var found = Cell(source: source, names: names, problems: problems)
            let value = self.value(member, &found, at: part / field.name)
            problems = found.problems
            guard let value else { continue }
            if field.isRelationship {
                parsed.relationships[field.name] = ["data": value]
            } else {
                parsed.attributes[field.name] = value
            }
        }
        return Reading(parsed: parsed, problems: problems)
    }

    /// A row while its cells are read.
    private struct Cell {
        let source: ImportSource
        let names: ImportNames
        var problems: [RequestFailure]

        /// - Parameters:
        ///   - expected: as in `12 isn't a date and time`.
        ///   - hint: what to write, without repeating `expected`.
        mutating func refuse(_ found: JSON, _ expected: Wording, _ hint: Wording, at pointer: RequestPointer) -> JSON? {
            let text = if case .string(let text) = found { text } else { JobStore.text(found) }
            let shown = text.shortened(toByteCount: 60)
            return refuse(Wording("'\(shown)' isn't \(expected)."), hint, at: pointer)
        }

        mutating func refuse(_ message: Wording, _ hint: Wording, at pointer: RequestPointer) -> JSON? {
            problems.append(
                RequestFailure(.unprocessable, message, hint: hint, source: .pointer(pointer.description)))
            return nil
        }
    }

    private func id(_ row: inout Cell) -> Value? {
        guard let idColumn, let cell = row.source.value(idColumn), cell != .null else { return nil }
        if case .string(let text) = cell, let key = type.keyValue(type.keyType == .string ? unguarded(text) : text) {
            return key
        }
        let (expected, hint) = Self.expected(type.keyType)
        _ = row.refuse(cell, expected, hint, at: RequestPointer("/id"))
        return nil
    }

    /// What a cell of this type contains, and how to write it.
    private static func expected(_ type: PropertyType) -> (what: Wording, hint: Wording) {
        switch type {
        case .bool: (Wording("a Boolean"), Wording("Write true or false."))
        case .int(let bits):
            (Wording("an integer of \(bits) bits"), Wording("Write only digits, such as 1200."))
        case .float, .double: (Wording("a number"), Wording("Write one such as 12.5."))
        case .decimal128: (Wording("a decimal number"), Wording("Write one such as 12.50."))
        case .string: (Wording("text without U+0000"), Wording("Leave that character out."))
        case .date:
            (
                Wording("a date and time"),
                Wording("Write one such as 2026-05-14T13:22:18Z, or a day such as 2026-05-14.")
            )
        case .objectId: (Wording("an id"), Wording("An id has 24 hexadecimal digits."))
        case .uuid: (Wording("a UUID"), Wording("Write one such as 123e4567-e89b-12d3-a456-426614174000."))
        case .data:
            (
                Wording("base64"),
                Wording("Encode the bytes with the characters A-Z, a-z, 0-9, + and /, and with = at the end.")
            )
        case .link, .embedded, .array, .list, .linkingObjects:
            (Wording("a value of type \(type.name)"), Wording("Leave the column out."))
        }
    }

    /// Why text isn't a date although it looks like one: its month has fewer days.
    private static func missingDay(_ text: String) -> (message: Wording, hint: Wording)? {
        let month = text.prefix(8)
        // It would be a date on the first of the month.
        guard text.utf8.count >= 10, Int(text.dropFirst(8).prefix(2)) != nil,
            ValueText.value("\(month)01\(text.dropFirst(10))", .date) != nil,
            let last = (28...31).last(where: { ValueText.value("\(month)\($0)", .date) != nil })
        else { return nil }
        return (
            Wording("The day \(text.prefix(10)) doesn't exist: that month has \(last) days."),
            Wording("Write a day from 01 to \(last).")
        )
    }

    /// Removes the guard that an export puts before text that a spreadsheet could calculate.
    func unguarded(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard isTable, unguards, scalars.first == "'", let second = scalars.dropFirst().first,
            ExportStatement.guarded.contains(second)
        else { return text }
        return String(scalars.dropFirst())
    }

    // MARK: Members

    /// - Returns: nil if the row says nothing about the member, and after a problem.
    private func value(_ member: Member, _ row: inout Cell, at pointer: RequestPointer) -> JSON? {
        switch member.node {
        case .column(let column):
            guard let cell = row.source.value(column) else { return nil }
            guard cell != .null else { return empty(member.field) }
            return value(cell, member.field, &row, at: pointer)
        case .object(let inner):
            var values: [String: JSON] = [:]
            for member in inner {
                guard case .column(let column) = member.node, row.source.value(column) == .null else {
                    values[member.field.name] = value(member, &row, at: pointer / member.field.name)
                    continue
                }
                values[member.field.name] = .null
            }
            // Null is what an export writes for the members of a missing object.
            guard !JSON.object(values).isBlank else { return .null }
            for member in inner where values[member.field.name] == .null {
                values[member.field.name] = empty(member.field)
            }
            return .object(values)
        }
    }

    /// The value of an empty cell without quotes, or of null in JSON. An export writes null that way, and an empty
    /// string as `""`. For a string that can't be null, the cell says nothing, as for a number or a date.
    private func empty(_ field: ResourceField) -> JSON? {
        guard isTable else { return .null }
        return switch field.content {
        case .values, .objects, .toMany, .array: .array([])
        case .value, .toOne, .embedded: field.isOptional ? .null : nil
        }
    }

    private func value(
        _ cell: JSON, _ field: ResourceField, _ row: inout Cell, at pointer: RequestPointer
    ) -> JSON? {
        switch field.content {
        case .value(_, let type): return value(cell, type, &row, at: pointer)
        case .toOne(_, let target): return identifier(cell, target, isElement: false, &row, at: pointer)
        case .toMany(_, let target):
            guard let items = list(cell, &row, at: pointer) else { return nil }
            let identifiers = items.compactMap { identifier($0, target, isElement: true, &row, at: pointer) }
            return identifiers.count == items.count ? .array(identifiers) : nil
        case .values(let elements, _):
            guard let items = list(cell, &row, at: pointer) else { return nil }
            let type = view.schema.storedType(of: view.schema[elements].columns[ElementColumn.content])
            return .array(items.map { Self.canonical($0, type) })
        case .objects(_, let inner):
            guard let items = list(cell, &row, at: pointer) else { return nil }
            return .array(items.map { Self.canonical(element: $0, inner, view) })
        case .array: return list(cell, &row, at: pointer).map(JSON.array)
        case .embedded(_, let inner):
            guard case .object(let members)? = structured(cell) else {
                return row.refuse(
                    cell, Wording("a JSON object"), Wording("Write one such as {\"name\": \"value\"}."), at: pointer
                )
            }
            return .object(Self.canonical(members, inner, view))
        }
    }

    private func value(_ cell: JSON, _ type: PropertyType, _ row: inout Cell, at pointer: RequestPointer) -> JSON? {
        // JSON has its own types, and is checked as in requests.
        guard isTable, case .string(let text) = cell else { return Self.canonical(cell, type) }
        let plain = type == .string ? unguarded(text) : type == .bool ? text.lowercased() : text
        guard let value = ValueText.value(plain, type, isOwn: true) else {
            if type == .date, let day = Self.missingDay(plain) { return row.refuse(day.message, day.hint, at: pointer) }
            let (expected, hint) = Self.expected(type)
            return row.refuse(cell, expected, hint, at: pointer)
        }
        return Self.written(value)
    }

    private func identifier(
        _ cell: JSON, _ target: Int, isElement: Bool, _ row: inout Cell, at pointer: RequestPointer
    ) -> JSON? {
        guard let target = view.types[target] else { return nil }
        guard case .string(let text) = cell,
            let key = target.keyValue(target.keyType == .string && !isElement ? unguarded(text) : text)
        else {
            let (expected, hint) = Self.expected(target.keyType)
            guard case .string(let text) = cell, let found = row.names[target, unguarded(text)], !isElement else {
                return row.refuse(cell, Wording("the id of one of the \(target.name)"), hint, at: pointer)
            }
            let shown = text.shortened(toByteCount: 60)
            if found == .several {
                return row.refuse(
                    Wording("Several of the \(target.name) are called '\(shown)'."),
                    Wording("Write the id of the one you mean."),
                    at: pointer)
            }
            return row.refuse(
                Wording("'\(shown)' is neither the id nor the title of one of the \(target.name)."),
                Wording("Write \(expected), or the exact title of one that you can see. \(hint)"), at: pointer)
        }
        return ["type": .string(target.name), "id": .string(key.keyText)]
    }

    private func list(_ cell: JSON, _ row: inout Cell, at pointer: RequestPointer) -> [JSON]? {
        guard case .array(let items)? = structured(cell), items.count <= ResourcePlan.maximumElementCount else {
            _ = row.refuse(
                cell, Wording("a JSON array of at most \(ResourcePlan.maximumElementCount) values"),
                Wording("Write one such as [\"a\", \"b\"]."), at: pointer)
            return nil
        }
        return items
    }

    /// JSON in a cell of a table.
    /// - Returns: nil for text that isn't JSON, or has a member twice.
    private func structured(_ cell: JSON) -> JSON? {
        guard isTable, case .string(let text) = cell else { return cell }
        guard RepeatedMember(in: text.utf8) == nil else { return nil }
        return try? JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    // MARK: As the server writes it

    /// Normalises other notations of the same value, such as other time zones, to this server's.
    private static func canonical(_ json: JSON, _ type: PropertyType) -> JSON {
        switch (json, type) {
        case (.string, .string), (.bool, _), (.null, _), (.double, _), (.array, _), (.object, _): json
        case (.int(let number), .decimal128): ValueText.value("\(number)", type).map { JSON($0) } ?? json
        case (.string(let text), .double), (.string(let text), .float):
            ValueText.infinity(text).map(written) ?? json
        case (.int, _), (_, .bool), (_, .int): json
        case (.string(let text), _): ValueText.value(text, type, isOwn: true).map(written) ?? json
        }
    }

    /// A value as in ``ResourceMembers``: JSON has no infinity.
    private static func written(_ value: TomboloModel.Value) -> JSON {
        guard case .double(let number) = value, let name = number.infinityName else { return JSON(value) }
        return .string(name)
    }

    private static func canonical(element: JSON, _ fields: [ResourceField], _ view: CallerView) -> JSON {
        if case .object(let members) = element { .object(canonical(members, fields, view)) } else { element }
    }

    private static func canonical(
        _ members: [String: JSON], _ fields: [ResourceField], _ view: CallerView
    ) -> [String: JSON] {
        var result = members
        for field in fields {
            guard let value = members[field.name] else { continue }
            switch (field.content, value) {
            case (.value(_, let type), _): result[field.name] = canonical(value, type)
            case (.embedded(_, let inner), .object(let members)):
                result[field.name] = .object(canonical(members, inner, view))
            case (.values(let elements, _), .array(let items)):
                let type = view.schema.storedType(of: view.schema[elements].columns[ElementColumn.content])
                result[field.name] = .array(items.map { canonical($0, type) })
            case (.objects(_, let inner), .array(let items)):
                result[field.name] = .array(items.map { canonical(element: $0, inner, view) })
            default: continue
            }
        }
        return result
    }
}

extension JSON {
    /// Whether it says no more than null: an object or a list without values.
    var isBlank: Bool {
        switch self {
        case .null: true
        case .array(let items): items.isEmpty
        case .object(let members): members.values.allSatisfy(\.isBlank)
        case .bool, .int, .double, .string: false
        }
    }
}
