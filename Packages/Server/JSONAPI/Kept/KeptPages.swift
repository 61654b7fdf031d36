import TomboloModel
import TomboloRules

/// Pages of lists as they are sent.
typealias KeptPages = AnswerCache<PageQuestion, KeptPage>

/// Who requests which page, under which rules: the rules decide what the caller may see of it, in the current classes.
struct PageQuestion: KeptQuestion {
    let rules: Rules.Identity
    let subject: Subject
    /// Includes the query.
    let address: String

    /// Addresses are compared by their bytes: one may contain `é` as two code points, and ask for something else.
    static func == (left: Self, right: Self) -> Bool {
        left.rules == right.rules && left.subject == right.subject && left.address.hasBytes(of: right.address)
    }

    /// About how much is known about a user.
    private static let subjectByteCount = 1_024

    var byteCount: Int { Self.subjectByteCount + address.utf8.count }
}

struct KeptPage: KeptAnswer {
    let document: JSONAPIDocument
    /// For the ETag.
    let version: String

    var byteCount: Int { document.bytes.count + version.utf8.count }
}
