import Foundation
import Hummingbird
package import TomboloHTTP
package import TomboloModel

/// Everything of a schema that the API serves.
package struct ResourceTypes: Sendable {
    package let schema: Schema
    package let all: [ResourceType]
    private let positions: [String: Int]
    private let positionsByClass: [Int: Int]

    package init(_ schema: Schema) {
        self.schema = schema
        let isServed = { (name: String) in schema[name].map(ResourceType.isServed) ?? false }
        var all: [ResourceType] = []
        for index in schema.classes.indices {
            if let type = ResourceType(schema, classIndex: index, isServed: isServed) { all.append(type) }
        }
        var positions: [String: Int] = [:]
        for (position, type) in all.enumerated() where positions[type.name] == nil { positions[type.name] = position }
        // A class's current name takes precedence over another class's former name.
        for (position, type) in all.enumerated() {
            for name in type.item.previousNames.map(ClassSchema.collectionName(of:)) where positions[name] == nil {
                positions[name] = position
            }
        }
        self.all = all
        self.positions = positions
        positionsByClass = Dictionary(
            uniqueKeysWithValues: all.enumerated().map { ($1.classIndex, $0) })
    }

    package subscript(name: String) -> ResourceType? { positions[name].map { all[$0] } }
    package subscript(classIndex: Int) -> ResourceType? { positionsByClass[classIndex].map { all[$0] } }

    /// The type in the address.
    /// - Throws: ``RequestFailure`` with status 404.
    package func type(inAddress context: EdgeContext) throws -> ResourceType {
        let name = context.parameters.get("collection")?.removingPercentEncoding ?? ""
        guard let type = self[name] else {
            let hint = name.nearest(in: all.map(\.name)).map { "Did you mean '\($0)'? " } ?? ""
            throw RequestFailure(
                .notFound, "There is no resource type '\(name.shortened(toByteCount: 60))'.",
                hint: "\(hint)GET \(JSONAPIRoutes.path)/openapi.json lists the types.")
        }
        return type
    }
}
