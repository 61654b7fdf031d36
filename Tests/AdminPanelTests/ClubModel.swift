import TomboloModel
import TomboloServerModel

/// A small app besides the event platform, for tests that write their own rules.
enum ClubModel {
    /// A model with a class `Club` that has a list `notes`, and a class `Membership` that can give roles.
    static func server(rules: String) throws -> ServerModel {
        func property(_ name: String, _ type: PropertyType, isOptional: Bool = false) -> ModelProperty {
            ModelProperty(name: name, type: type, isOptional: isOptional, isPrimaryKey: name == "_id")
        }
        let models = try ModelDocument(
            app: "clubs",
            classes: [
                ModelClass(
                    name: "Club", table: "club",
                    properties: [
                        property("_id", .objectId), property("name", .string),
                        property("notes", .list(.string, isOptional: false)),
                    ]),
                ModelClass(
                    name: "Membership", table: "membership",
                    properties: [
                        property("_id", .objectId), property("user", .objectId), property("role", .string),
                        property("club", .string, isOptional: true),
                    ]),
            ])
        return try ServerModel([
            StoredDocument(version: 1, app: "clubs", kind: .models, content: models.json),
            StoredDocument(version: 2, app: "clubs", kind: .rules, content: rules),
        ])
    }
}
