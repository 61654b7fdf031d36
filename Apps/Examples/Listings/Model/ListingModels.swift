public import TomboloModel

/// The app's classes.
public enum ListingModels {
    public static var objectTypes: [Object.Type] { [Listing.self] }

    /// What servers are told of the classes: `listings.models.json` holds it.
    /// - Throws: `SchemaError` if the classes don't form a schema.
    public static func document() throws -> ModelDocument {
        try ModelDocument(app: "listings", objectTypes: objectTypes)
    }
}
