/// The model classes of one app as a document. It tells servers, which aren't compiled with the app, about its classes.
///
/// The Swift classes remain the source. An app exports them:
///
///     try ModelDocument(app: "listings", objectTypes: [Listing.self]).write(to: URL(filePath: "models.json"))
///
/// `docs/model-documents.md` describes the JSON form. Every instance is valid: both initializers check the document, so
/// that ``schema()`` can derive the tables. Whether the classes can be synchronised is checked separately by
/// ``Schema/synchronizationProblems``.
public struct ModelDocument: Hashable, Sendable {
    /// The version of the JSON form that this code writes, and the newest one that it reads.
    public static let currentFormat = 1

    /// The maximum size of a document in bytes.
    public static let maximumByteCount = 4 << 20
    /// The maximum number of classes in a document, including embedded ones.
    public static let maximumClassCount = 1_000
    /// The maximum number of properties in a class.
    public static let maximumPropertyCount = 1_000
    /// The maximum number of columns in a class's table, including those of embedded objects. A PostgreSQL table holds 1,600.
    public static let maximumColumnCount = 1_500
    /// The maximum number of tables for a document, including those of lists.
    public static let maximumTableCount = 5_000
    /// The maximum number of columns in all tables together.
    public static let maximumTotalColumnCount = 100_000
    /// The maximum depth of embedded objects inside embedded objects.
    public static let maximumEmbeddingDepth = 16
    /// The maximum length, in UTF-8 bytes, of the name of a class, property, table, column or app: what PostgreSQL keeps.
    public static let maximumNameByteCount = 63
    /// The maximum length of a property's hint in UTF-8 bytes.
    public static let maximumHintByteCount = 500
    /// The maximum number of previous names of a class or property.
    public static let maximumPreviousNameCount = 32
    /// The maximum number of names for a property of an embedded object. Each name of the enclosing properties
    /// multiplies them.
    public static let maximumAliasCount = 100

    /// The app's name: lowercase letters, digits, `-` and `_`, beginning with a letter.
    public let app: String
    /// All classes, including embedded ones, sorted by the UTF-8 bytes of their names.
    public let classes: [ModelClass]

    /// - Throws: ``ModelDocumentError`` listing every problem of the classes.
    public init(app: String, classes: [ModelClass]) throws(ModelDocumentError) {
        var check = ModelDocumentCheck(app: app, classes: classes)
        try check.run()
        self.app = app
        self.classes = check.classes
    }

    /// The class with this name, or nil.
    public subscript(className: String) -> ModelClass? { classes.first { $0.name == className } }

    /// The tables for the classes, and the element classes of their lists.
    ///
    /// Equals ``Schema/of(_:)`` of the same Swift classes except for `linkingObjects`, which only devices use and
    /// documents don't contain.
    /// - Throws: ``SchemaError``, but never for a document made by an initializer.
    public func schema() throws(SchemaError) -> Schema { try ModelSchemaBuilder(classes).schema() }
}
