package import Foundation
import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// What is to be restored: everything that was trashed together, or one object.
package enum TrashAddress: Hashable, Sendable {
    case group(UUID)
    case object(ObjectId)

    /// - Throws: ``RequestFailure`` with status 400 for text that is neither kind of id.
    package init(_ text: String?) throws {
        if let id = text.flatMap({ try? ObjectId(string: $0) }) {
            self = .object(id)
        } else if let id = text.flatMap(UUID.init(uuidString:)) {
            self = .group(id)
        } else {
            throw RequestFailure(
                .badRequest, localized("The address holds neither the id of an object nor that of a group."),
                hint: "GET /admin/trash lists both.")
        }
    }
}
