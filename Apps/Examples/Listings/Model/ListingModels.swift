public import TomboloModel

/// The app's classes.
public enum ListingModels {
    public static var objectTypes: [Object.Type] { [Listing.self] }

    /// The model document for servers, which `listings.models.json` contains.
    /// - Throws: `SchemaError` if the classes don't form a schema.
    public static func document() throws -> ModelDocument {
        try ModelDocument(app: "listings", objectTypes: objectTypes)
    }
}
