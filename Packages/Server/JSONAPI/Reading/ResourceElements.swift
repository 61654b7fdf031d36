import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

/// How a list of embedded objects is read: as one array of values for each column, from which the objects are put
/// together again. Lists inside the elements are read the same way, with the element that each of their values belongs
/// to.
struct ResourceElements: Sendable {
    private indirect enum Content: Sendable {
        case value(PropertyType)
        case array([PropertyType])
        /// An embedded object, with the position of each of its columns.
        case object([Member])
        /// A list of scalars, or of links as their keys.
        case values(parents: Int, PropertyType)
        case elements(ResourceElements)
    }

    private struct Member: Sendable {
        let name: String
        let content: Content
        /// The cell with the values of all elements; unused for ``Content/elements(_:)``.
        let place: Int
    }

    /// An element as it was read.
    private struct Element {
        let id: Value
        let parent: Value
        let json: JSON
    }

    private let ids: Int
    /// Nil for the elements of the object itself.
    private let parents: Int?
    private var members: [Member] = []

    /// - Parameters:
    ///   - elements: the position of the element class.
    ///   - add: adds an expression to the SELECT, and returns its position.
    init(
        _ elements: Int, _ fields: [ResourceField], of type: ResourceType, _ schema: Schema, add: (String) -> Int
    ) {
        let item = schema[elements]
        func column(_ index: Int, _ elements: Int, target: ClassSchema? = nil) -> Int {
            let isDecimal = schema.storedType(of: schema[elements].columns[index]) == .decimal128
            return add(
                ResourcePlan.elementsSQL(
                    elements, of: type, schema, column: index, target: target, expression: isDecimal ? "::text" : ""))
        }
        func member(_ field: ResourceField) -> Member? {
            switch field.content {
            case .value(let index, _):
                let content = Content.value(schema.storedType(of: item.columns[index]))
                return Member(name: field.name, content: content, place: column(index, elements))
            case .array(let index, let types):
                return Member(name: field.name, content: .array(types), place: column(index, elements))
            case .embedded(let index, let inner):
                let place = column(index, elements)
                return Member(name: field.name, content: .object(inner.compactMap(member)), place: place)
            case .values(let list, _):
                guard let parent = schema[list].parentColumn else { return nil }
                let content = schema[list].columns[ElementColumn.content]
                let (stored, target) = (schema.storedType(of: content), schema.trashableTarget(of: content))
                let place = column(ElementColumn.content, list, target: target)
                let parents = column(parent, list, target: target)
                return Member(name: field.name, content: .values(parents: parents, stored), place: place)
            case .objects(let list, let inner):
                let content = Content.elements(ResourceElements(list, inner, of: type, schema, add: add))
                return Member(name: field.name, content: content, place: 0)
            // Links of embedded objects are shown as keys.
            case .toOne, .toMany: return nil
            }
        }
        ids = column(ElementColumn.id, elements)
        parents = item.parentColumn.map { column($0, elements) }
        members = fields.compactMap(member)
    }

    /// The elements of a row in their order, each with its id.
    /// - Returns: nil if there are more elements than a resource shows, in this list or in one inside of it.
    func values(_ row: PostgresRow) throws -> [JSON]? { try elements(row)?.map(\.json) }

    private func elements(_ row: PostgresRow) throws -> [Element]? {
        guard let ids = try Self.list(row, ids, .objectId) else { return nil }
        let parents = try self.parents.map { try Self.list(row, $0, .objectId) ?? [] }
        guard let objects = try Self.objects(members, ids, row) else { return nil }
        return zip(ids, objects).enumerated().map { index, pair in
            var json = pair.1
            if let text = ValueText.text(pair.0) { json[ResourceField.elementID] = .string(text) }
            return Element(id: pair.0, parent: parents?[index] ?? .null, json: .object(json))
        }
    }

    /// The members of each element; nil if there are too many.
    private static func objects(_ members: [Member], _ ids: [Value], _ row: PostgresRow) throws -> [[String: JSON]]? {
        var objects = Array(repeating: [String: JSON](), count: ids.count)
        for member in members {
            guard let values = try values(member, ids, row) else { return nil }
            for (index, value) in values.enumerated() { objects[index][member.name] = value }
        }
        return objects
    }

    /// The values of one member, by element.
    private static func values(_ member: Member, _ ids: [Value], _ row: PostgresRow) throws -> [JSON]? {
        switch member.content {
        case .value(let type): return try list(row, member.place, type)?.map(JSON.init)
        case .array(let types):
            return try list(row, member.place, .data)?.map { value in
                guard case .data(let bytes) = value else { return .null }
                let elements = ArrayCoding.decode(bytes, types) ?? []
                return .array(
                    elements.map { types.count == 1 ? JSON($0[0]) : .array($0.map(JSON.init)) })
            }
        case .object(let inner):
            guard let isThere = try list(row, member.place, .bool), let objects = try objects(inner, ids, row) else {
                return nil
            }
            return zip(isThere, objects).map { $0 == .null ? .null : .object($1) }
        case .values(let parents, let type):
            guard let values = try list(row, member.place, type), let parents = try list(row, parents, .objectId)
            else { return nil }
            let byParent = Dictionary(grouping: zip(parents, values), by: \.0)
            return ids.map { .array((byParent[$0] ?? []).map { JSON($0.1) }) }
        case .elements(let inner):
            guard let elements = try inner.elements(row) else { return nil }
            let byParent = Dictionary(grouping: elements, by: \.parent)
            return ids.map { .array((byParent[$0] ?? []).map(\.json)) }
        }
    }

    /// The values of a column in all elements; nil if there are more than a resource shows.
    private static func list(_ row: PostgresRow, _ place: Int, _ type: PropertyType) throws -> [Value]? {
        guard !row[place].isNull else { return [] }
        let values = try row[place].values(ofList: type)
        return values.count <= ResourcePlan.maximumElementCount ? values : nil
    }
}
