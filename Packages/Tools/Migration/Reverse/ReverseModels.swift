public import TomboloModel

/// Models for existing tables: a document, Swift source, and findings about each table and column.
public struct ReverseModels: Sendable {
    public let document: ModelDocument
    /// Swift classes that produce ``document``.
    public let source: String
    /// By table, then by column, including tables that are left out completely.
    public let findings: [ReverseFinding]

    /// Nothing can be synchronised as long as there are any.
    public var requirements: [ReverseFinding] { findings.filter { $0.kind == .required } }

    /// - Parameter app: the name of the document.
    /// - Throws: ``ModelDocumentError`` for names that a document can't have, such as the app's.
    public init(of survey: DatabaseSurvey, app: String) throws(ModelDocumentError) {
        var builder = ReverseModelBuilder(survey)
        builder.build()
        document = try ModelDocument(app: app, classes: builder.classes)
        findings = builder.findings
        source = ReverseSource(document: document, defaults: builder.defaults).text
    }
}
