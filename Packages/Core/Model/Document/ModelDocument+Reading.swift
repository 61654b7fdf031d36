internal import Foundation

extension ModelDocument {
    /// Reads a UTF-8 document.
    /// - Throws: ``ModelDocumentError`` with every problem found, each with the class, the property and the most
    ///   similar name. For a document in a newer format, the error says that this program must be updated.
    public init(json: [UInt8]) throws(ModelDocumentError) {
        guard json.count <= Self.maximumByteCount else {
            throw ModelDocumentError(
                Wording("The document has \(json.count) bytes; the limit is \(Self.maximumByteCount)."))
        }
        guard String(validating: json, as: UTF8.self) != nil else {
            throw ModelDocumentError(Wording("The document isn't valid UTF-8."))
        }
        let reader: ModelDocumentReader
        do {
            reader = try JSONDecoder().decode(ModelDocumentReader.self, from: Data(json))
        } catch {
            guard let reason = Self.syntaxError(in: json) else {
                throw ModelDocumentError(Wording("The document isn't valid JSON."))
            }
            throw ModelDocumentError(Wording("The document isn't valid JSON: \(reason)"))
        }
        if let repeated = RepeatedMember(in: json) {
            throw ModelDocumentError(
                Wording("Line \(repeated.line): \"\(ModelName.shown(repeated.name))\" appears twice in one object."))
        }
        try self.init(reader)
    }

    /// Like ``init(json:)-([UInt8])``.
    public init(json: String) throws(ModelDocumentError) { try self.init(json: Array(json.utf8)) }

    /// Where the text stops being JSON. The decoder doesn't say so.
    private static func syntaxError(in json: [UInt8]) -> String? {
        do {
            _ = try JSONSerialization.jsonObject(with: Data(json))
            return nil
        } catch {
            let reason = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            return reason?.shortened(toByteCount: ModelDocumentReader.maximumQuotation)
        }
    }

    private init(_ reader: ModelDocumentReader) throws(ModelDocumentError) {
        if let error = reader.error { throw error }
        var check = ModelDocumentCheck(app: reader.app, classes: reader.classes, problems: reader.problems)
        try check.run()
        app = reader.app
        classes = check.classes
    }
}
