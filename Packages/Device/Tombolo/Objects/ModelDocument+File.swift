public import Foundation
public import TomboloModel

extension ModelDocument {
    /// Writes the document to a file atomically: readers see the old file or the new one. A file that already has this
    /// text isn't touched, so that builds which depend on it don't run again.
    ///
    ///     try ModelDocument(app: "listings", objectTypes: [Listing.self]).write(to: URL(filePath: "models.json"))
    ///
    /// - Returns: whether the file changed.
    /// - Throws: errors of the file system.
    @discardableResult
    public func write(to url: URL) throws -> Bool {
        let content = Data(json.utf8)
        if let present = try? Data(contentsOf: url), present == content { return false }
        try content.write(to: url, options: .atomic)
        return true
    }
}
