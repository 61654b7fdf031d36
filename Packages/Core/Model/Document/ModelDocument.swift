/// The model classes of one app as a document: how servers, which aren't compiled against an app, learn of its classes.
///
/// The Swift classes stay the source. An app exports them:
///
///     try ModelDocument(app: "listings", objectTypes: [Listing.self]).write(to: URL(filePath: "models.json"))
///
/// `docs/model-documents.md` describes the JSON form. A document that exists is valid: both initializers check it, so
/// that ``schema()`` gives tables. Whether the classes can be synchronised is for ``Schema/synchronizationProblems``.
public struct ModelDocument: Hashable, Sendable {
    /// The version of the JSON form that this code writes, and the newest that it reads.
    public static let currentFormat = 1

    /// The most bytes of a document.
    public static let maximumByteCount = 4 << 20
    /// The most classes of a document, embedded ones among them.
    public static let maximumClassCount = 1_000
    /// The most properties of a class.
    public static let maximumPropertyCount = 1_000
    /// The most columns of a class's table, those of its embedded objects among them. PostgreSQL's tables hold 1,600.
    public static let maximumColumnCount = 1_500
    /// The most tables of a document, those of lists among them.
    public static let maximumTableCount = 5_000
    /// The most columns of all tables together.
    public static let maximumTotalColumnCount = 100_000
    /// How deep embedded objects may lie inside embedded objects.
    public static let maximumEmbeddingDepth = 16
    /// The most bytes of UTF-8 in the name of a class, property, table, column or app: as many as PostgreSQL keeps.
    public static let maximumNameByteCount = 63
    /// The most bytes of UTF-8 in the hint of a property.
    public static let maximumHintByteCount = 500
    /// The most former names of a class or property.
    public static let maximumPreviousNameCount = 32
    /// The most names of a property of an embedded object, which has those of the properties around it too.
    public static let maximumAliasCount = 100

    /// The app's name: lower-case letters, digits, `-` and `_`; it begins with a letter.
    public let app: String
    /// By name, in the order of their UTF-8 bytes. Embedded classes are among them.
    public let classes: [ModelClass]

    /// - Throws: ``ModelDocumentError`` with every problem of the classes.
    public init(app: String, classes: [ModelClass]) throws(ModelDocumentError) {
        var check = ModelDocumentCheck(app: app, classes: classes)
        try check.run()
        self.app = app
        self.classes = check.classes
    }

    /// The class with this name, or nil.
    public subscript(className: String) -> ModelClass? { classes.first { $0.name == className } }

    /// The tables that the classes make, and the element classes of their lists.
    ///
    /// Equal to ``Schema/of(_:)`` of the same Swift classes but for `linkingObjects`, which only devices use and
    /// documents don't have.
    /// - Throws: ``SchemaError``; never for a document as it was made by an initializer.
    public func schema() throws(SchemaError) -> Schema { try ModelSchemaBuilder(classes).schema() }
}
