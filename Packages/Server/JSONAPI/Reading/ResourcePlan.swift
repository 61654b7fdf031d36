import Crypto
import Foundation
package import PostgresClient
import PostgresValues
package import TomboloHTTP
package import TomboloModel

/// How the rows of one type are read and written as resource objects for one caller, straight from a result's bytes:
/// which columns a SELECT reads, and which members they become. It never reads what the caller may not see.
package struct ResourcePlan: Sendable {
    /// The most elements of a list that a resource shows. A longer relationship has only links and no linkage; a longer
    /// attribute is left out.
    package static let maximumElementCount = 1_000
    /// How many bytes of a value are read if only its beginning is: enough for a file's signature. Such a member is
    /// `{"beginning":"iVBORw0KGgoAAAAN","byteCount":4711}`, with the first bytes in base64.
    package static let beginningByteCount = 12
    /// How many characters of a string are read if only its beginning is.
    package static let beginningCharacterCount = 512
    /// The name of the class's table in the statement.
    package static let alias = "o"

    /// How a value is written; positions are those of cells in the row.
    private indirect enum Source: Sendable {
        case value(Int, PropertyType)
        case beginning(Int, byteCount: Int)
        case array(Int, [PropertyType])
        case object(Int, [Member])
        case values(Int, PropertyType)
        case elements(ResourceElements)
    }

    private struct Member: Sendable {
        /// `"name":`
        let name: [UInt8]
        let source: Source
    }

    private struct Relationship: Sendable {
        let field: ResourceField
        let place: Int
        let keyType: PropertyType
        let isList: Bool
        /// `"event":{"links":{"self":"/api/sessions/`
        let opening: [UInt8]
        /// `/relationships/event","related":"/api/sessions/`
        let middle: [UInt8]
        /// `/event"}`
        let closing: [UInt8]
        /// `{"type":"events","id":`
        let identifier: [UInt8]
    }

    package let type: ResourceType
    /// The SELECT's columns, the primary key first.
    package private(set) var columns: [String]
    /// Whether a resource shows everything that the caller may see.
    package let isComplete: Bool
    private var attributes: [Member] = []
    private var relationships: [Relationship] = []
    /// `{"type":"sessions","id":`
    private let opening: [UInt8]
    /// `"links":{"self":"/api/sessions/`
    private let link: [UInt8]

    /// - Parameters:
    ///   - fields: the requested members; nil for all.
    ///   - beginnings: members with bytes or strings of which only the beginning is requested.
    package init(
        _ type: ResourceType, for view: CallerView, fields: Set<String>? = nil, linkage: Set<String> = [],
        beginnings: Set<String> = []
    ) {
        self.type = type
        isComplete = fields == nil && beginnings.isEmpty
        columns = [PostgresSQL.quoteIdentifier(Self.alias, type.key.sqlName)]
        var opening = JSONBytes()
        opening.append("{\"type\":")
        opening.append(string: type.name)
        opening.append(",\"id\":")
        self.opening = opening.bytes
        link = Array("\"links\":{\"self\":\"\(type.path)/".utf8)
        for field in view.fields(of: type) {
            let isAskedFor = fields?.contains(field.name) ?? true
            if let target = field.target.flatMap({ view.types[$0] }) {
                // Included resources need their linkage, even if it isn't shown.
                guard isAskedFor || linkage.contains(field.name) else { continue }
                addRelationship(field, target, view.schema)
                if !isAskedFor { hidden.insert(field.name) }
            } else if isAskedFor, beginnings.contains(field.name), let source = beginning(field, view.schema) {
                attributes.append(Member(name: Self.name(field.name), source: source))
            } else if isAskedFor, let source = source(field, view.schema) {
                attributes.append(Member(name: Self.name(field.name), source: source))
            }
        }
    }

    /// Relationships that are read but not shown.
    private var hidden: Set<String> = []

    private static func name(_ name: String) -> [UInt8] {
        var json = JSONBytes()
        json.append(string: name)
        json.append(":")
        return json.bytes
    }

    private mutating func add(_ sql: String) -> Int {
        columns.append(sql)
        return columns.count - 1
    }

    /// PostgreSQL knows the length of a long value without reading it, and only reads its beginning.
    /// - Returns: nil unless the field is a column with bytes or a string.
    private mutating func beginning(_ field: ResourceField, _ schema: Schema) -> Source? {
        guard case .value(let index, let valueType) = field.content else { return nil }
        let column = PostgresSQL.quoteIdentifier(Self.alias, type.item.columns[index].sqlName)
        if valueType == .string, schema.storedType(of: type.item.columns[index]) == .string {
            return .value(add("left(\(column)::text, \(Self.beginningCharacterCount))"), .string)
        }
        guard valueType == .data else { return nil }
        let place = add("substring(\(column) FROM 1 FOR \(Self.beginningByteCount))")
        return .beginning(place, byteCount: add("octet_length(\(column))"))
    }

    private mutating func source(_ field: ResourceField, _ schema: Schema) -> Source? {
        func column(_ index: Int) -> String {
            PostgresSQL.quoteIdentifier(Self.alias, type.item.columns[index].sqlName)
        }
        switch field.content {
        case .value(let index, _):
            let property = type.item.columns[index]
            let sql = Self.linkSQL(column(index), schema.trashableTarget(of: property))
            return .value(add(sql), schema.storedType(of: property))
        case .array(let index, let types): return .array(add(column(index)), types)
        case .embedded(let index, let fields):
            let place = add(column(index))
            var members: [Member] = []
            for inner in fields {
                if let source = source(inner, schema) {
                    members.append(Member(name: Self.name(inner.name), source: source))
                }
            }
            return .object(place, members)
        case .values(let elements, let elementType):
            let content = schema[elements].columns[ElementColumn.content]
            let stored = schema.storedType(of: content)
            let expression = stored == .decimal128 ? "::text" : ""
            let place = add(
                Self.elementsSQL(
                    elements, of: type, schema, target: schema.trashableTarget(of: content), expression: expression))
            return .values(place, stored == .data ? elementType.stored : stored)
        case .objects(let elements, let fields):
            return .elements(ResourceElements(elements, fields, of: type, schema) { add($0) })
        case .toOne, .toMany: return nil
        }
    }

    private mutating func addRelationship(_ field: ResourceField, _ target: ResourceType, _ schema: Schema) {
        let sql: String
        let isList: Bool
        switch field.content {
        case .toOne(let index, _):
            let column = type.item.columns[index]
            sql = Self.linkSQL(
                PostgresSQL.quoteIdentifier(Self.alias, column.sqlName), schema.trashableTarget(of: column))
            isList = false
        case .toMany(let elements, _):
            let column = schema[elements].columns[ElementColumn.content]
            sql = Self.elementsSQL(elements, of: type, schema, target: schema.trashableTarget(of: column))
            isList = true
        case .value, .array, .embedded, .values, .objects: return
        }
        let name = RequestParameters.encode(field.name)
        var opening = JSONBytes()
        opening.append(string: field.name)
        opening.append(":{\"links\":{\"self\":\"")
        opening.append("\(type.path)/".utf8)
        var identifier = JSONBytes()
        identifier.append("{\"type\":")
        identifier.append(string: target.name)
        identifier.append(",\"id\":")
        relationships.append(
            Relationship(
                field: field, place: add(sql), keyType: target.keyType, isList: isList, opening: opening.bytes,
                middle: Array("/relationships/\(name)\",\"related\":\"\(type.path)/".utf8),
                closing: Array("/\(name)\"}".utf8), identifier: identifier.bytes))
    }

    /// The key that a link holds. It is null for a link to an object in the trash, which only administrators see.
    /// - Parameter target: the link's target class, if its objects can be in the trash.
    static func linkSQL(_ link: String, _ target: ClassSchema?) -> String {
        guard let target, let key = target.primaryKey else { return link }
        return "(SELECT \(PostgresSQL.quoteIdentifier("t", key.sqlName)) \(reached(link, target, key)))"
    }

    /// The target of a link, unless it's in the trash.
    private static func reached(_ link: String, _ target: ClassSchema, _ key: Column) -> String {
        "FROM \(PostgresSQL.quoteIdentifier(target.table)) AS \"t\" "
            + "WHERE \(PostgresSQL.quoteIdentifier("t", key.sqlName)) = \(link) "
            + "AND \(RowReader.isIn(trash: false, target, alias: "t"))"
    }

    /// Whether a link in a list is shown.
    /// - Parameter target: the link's target class, if its objects can be in the trash.
    static func isShown(_ link: String, _ target: ClassSchema?) -> String {
        guard let target, let key = target.primaryKey else { return "TRUE" }
        return "EXISTS (SELECT \(reached(link, target, key)))"
    }

    /// A column of a list's elements in their order, with one more element than is shown.
    /// - Parameter target: for a list of links, their target class, if its objects can be in the trash.
    static func elementsSQL(
        _ elements: Int, of type: ResourceType, _ schema: Schema, column place: Int = ElementColumn.content,
        target: ClassSchema? = nil, expression: String = ""
    ) -> String {
        let item = schema[elements]
        func column(_ index: Int) -> String { PostgresSQL.quoteIdentifier("e", item.columns[index].sqlName) }
        // In an embedded object, a link to an object in the trash is null; its element stays.
        let content =
            target == nil
            ? linkSQL(column(place), schema.trashableTarget(of: item.columns[place])) : column(place)
        var tables = "\(PostgresSQL.quoteIdentifier(item.table)) AS \"e\""
        if let target, let key = target.primaryKey {
            tables +=
                " JOIN \(PostgresSQL.quoteIdentifier(target.table)) AS \"t\" "
                + "ON \(PostgresSQL.quoteIdentifier("t", key.sqlName)) = \(column(ElementColumn.target)) "
                + "AND \(RowReader.isIn(trash: false, target, alias: "t"))"
        }
        let (rank, id) = (column(ElementColumn.rank), column(ElementColumn.id))
        return """
            (SELECT array_agg("l"."c" ORDER BY "l"."r", "l"."i") FROM (\
            SELECT \(content)\(expression) AS "c", \(rank) AS "r", \(id) AS "i" FROM \(tables) \
            WHERE \(column(ElementColumn.owner)) = \(PostgresSQL.quoteIdentifier(alias, type.key.sqlName)) \
            ORDER BY \(rank), \(id) LIMIT \(maximumElementCount + 1)) AS "l")
            """
    }

    // MARK: Rows

    package func key(_ row: PostgresRow) throws -> Value { try row[0].value(of: type.keyType) }

    /// The keys in a relationship; only the first ones of a long list.
    package func linked(_ row: PostgresRow, _ field: String) throws -> [Value] { try linkage(row, field).keys }

    /// Like ``linked(_:_:)``, and whether these are all.
    func linkage(_ row: PostgresRow, _ field: String) throws -> (keys: [Value], isComplete: Bool) {
        guard let relationship = relationships.first(where: { $0.field.name == field }) else { return ([], true) }
        let cell = row[relationship.place]
        guard !cell.isNull else { return ([], true) }
        guard relationship.isList else { return ([try cell.value(of: relationship.keyType)], true) }
        let keys = try cell.values(ofList: relationship.keyType)
        return (Array(keys.prefix(Self.maximumElementCount)), keys.count <= Self.maximumElementCount)
    }

    /// Appends a row as a resource object.
    /// - Returns: the version of what the caller sees of it, as in `meta.version` and an ETag; nil if only some members
    ///   are shown.
    @discardableResult
    package func append(_ row: PostgresRow, to json: inout JSONBytes) throws -> String? {
        try write(row, to: &json).map { String(decoding: json.bytes[$0], as: UTF8.self) }
    }

    /// Like ``append(_:to:)``.
    /// - Returns: where the version is in the JSON.
    @discardableResult
    func write(_ row: PostgresRow, to json: inout JSONBytes) throws -> Range<Int>? {
        json.append(opening)
        let path = try append(idOf: row, to: &json)
        let start = json.bytes.count
        if !attributes.isEmpty {
            json.append(",\"attributes\":")
            try Self.append(attributes, row, to: &json)
        }
        var hasRelationship = false
        for relationship in relationships where !hidden.contains(relationship.field.name) {
            json.append(hasRelationship ? "," : ",\"relationships\":{")
            hasRelationship = true
            json.append(relationship.opening)
            json.append(path)
            json.append(relationship.middle)
            json.append(path)
            json.append(relationship.closing)
            try append(linkageOf: relationship, row, to: &json)
            json.append("}")
        }
        if hasRelationship { json.append("}") }
        let version = isComplete ? ResourceVersion(of: json.bytes[start...]) : nil
        json.append(",")
        json.append(link)
        json.append(path)
        json.append("\"}")
        var place: Range<Int>?
        if let version {
            json.append(",\"meta\":{\"version\":")
            let start = json.bytes.count
            version.append(to: &json)
            // Without the quotes.
            place = (start + 1)..<(json.bytes.count - 1)
            json.append("}")
        }
        json.append("}")
        return place
    }

    /// Appends the id of a resource.
    /// - Returns: the id as it is written in addresses.
    private func append(idOf row: PostgresRow, to json: inout JSONBytes) throws -> [UInt8] {
        guard case .objectId = type.keyType else {
            let id = try key(row).keyText
            json.append(string: id)
            return Array(RequestParameters.encode(id).utf8)
        }
        // Hexadecimal digits, which are the same in addresses.
        let start = json.bytes.count
        try RowJSON.append(row[0], .objectId, to: &json)
        return Array(json.bytes[(start + 1)..<(json.bytes.count - 1)])
    }

    /// Appends `,"data":…`, or the number of elements if they are too many.
    private func append(linkageOf relationship: Relationship, _ row: PostgresRow, to json: inout JSONBytes) throws {
        let cell = row[relationship.place]
        guard relationship.isList else {
            json.append(",\"data\":")
            guard !cell.isNull else { return json.append(null: ()) }
            Self.append(try cell.value(of: relationship.keyType), relationship.identifier, to: &json)
            return
        }
        let keys = cell.isNull ? [] : try cell.values(ofList: relationship.keyType)
        guard keys.count <= Self.maximumElementCount else {
            json.append(",\"meta\":{\"isComplete\":false}")
            return
        }
        json.append(",\"data\":[")
        for (index, key) in keys.enumerated() {
            if index > 0 { json.append(",") }
            Self.append(key, relationship.identifier, to: &json)
        }
        json.append("]")
    }

    private static func append(_ key: Value, _ identifier: [UInt8], to json: inout JSONBytes) {
        json.append(identifier)
        json.append(string: key.keyText)
        json.append("}")
    }

    private static func append(_ members: [Member], _ row: PostgresRow, to json: inout JSONBytes) throws {
        var isFirst = true
        json.append("{")
        for member in members {
            if case .values(let place, let type) = member.source {
                let values = row[place].isNull ? [] : try row[place].values(ofList: type)
                guard values.count <= maximumElementCount else { continue }
                json.append(isFirst ? "" : ",")
                json.append(member.name)
                JSON.array(values.map(JSON.init)).append(to: &json)
            } else if case .elements(let elements) = member.source {
                guard let values = try elements.values(row) else { continue }
                json.append(isFirst ? "" : ",")
                json.append(member.name)
                JSON.array(values).append(to: &json)
            } else {
                json.append(isFirst ? "" : ",")
                json.append(member.name)
                switch member.source {
                case .value(let place, let type): try RowJSON.append(row[place], type, to: &json)
                case .beginning(let place, let byteCount):
                    try append(beginning: row[place], byteCount: row[byteCount], to: &json)
                case .array(let place, let types): try append(row[place], types, to: &json)
                case .object(let place, let members):
                    if row[place].isNull {
                        json.append(null: ())
                    } else {
                        try append(members, row, to: &json)
                    }
                case .values, .elements: break
                }
            }
            isFirst = false
        }
        json.append("}")
    }

    private static func append(
        beginning: PostgresCell, byteCount: PostgresCell, to json: inout JSONBytes
    ) throws {
        guard !beginning.isNull else { return json.append(null: ()) }
        json.append("{\"beginning\":")
        json.append(string: Data(try beginning.bytes).base64EncodedString())
        json.append(",\"byteCount\":")
        json.append(try byteCount.int64)
        json.append("}")
    }

    /// Appends a list of values, or a list of lists if an element has several properties.
    private static func append(_ cell: PostgresCell, _ types: [PropertyType], to json: inout JSONBytes) throws {
        guard !cell.isNull else { return json.append(null: ()) }
        let elements = ArrayCoding.decode(Data(try cell.bytes), types) ?? []
        JSON.array(
            elements.map { element in
                types.count == 1 ? JSON(element[0]) : .array(element.map(JSON.init))
            }
        ).append(to: &json)
    }
}
