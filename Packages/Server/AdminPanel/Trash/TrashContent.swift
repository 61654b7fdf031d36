import AdminService
import Foundation
import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// The values for the template `trash`.
struct TrashContent: Sendable {
    struct ClassChoice: Sendable {
        let name: String
        let title: String
        let isChosen: Bool
    }

    struct Entry: Sendable {
        let address: String
        let title: String
        let className: String
        /// What belongs to it, in words: `6 sessions, 2 tickets`.
        let with: String
        /// The same for a table's cell.
        let including: String
        let trashedAt: Moment
        let trashedBy: String
        let reason: String?
        /// Nil if it's never deleted automatically, or if the app keeps it when it's due.
        let purgeAt: Moment?
        let keptBecause: String?
        let isKept: Bool

        init(_ entry: TrashGroups.Entry, _ schema: Schema, now: Int64) {
            address = entry.address
            if let head = entry.head, let item = schema[head.className] {
                title = ObjectTitle.of(head.row, item)
                className = ClassTitle.words(head.className)
                with = Entry.words(entry.counts, without: head.className)
            } else {
                title = Counted.objects(entry.count)
                className = ""
                with = Entry.words(entry.counts, without: nil)
            }
            including = with.isEmpty ? "—" : with
            trashedAt = Moment(entry.trashedAt, now: now)
            trashedBy = entry.trashedBy ?? localized("a service")
            reason = entry.reason
            isKept = entry.isKeptWhenDue
            purgeAt = isKept ? nil : Moment.of(entry.purgeAt, now: now)
            keptBecause = entry.keptBecause
        }

        /// - Parameter head: the class of the group's main object, which isn't counted.
        static func words(_ counts: [(className: String, count: Int)], without head: String?) -> String {
            counts.compactMap { part in
                let count = part.className == head ? part.count - 1 : part.count
                return count > 0 ? Counted.objects(count, of: part.className) : nil
            }.joined(separator: ", ")
        }
    }

    let classes: [ClassChoice]
    /// The title of the chosen class.
    let chosenTitle: String?
    let entries: [Entry]
    let page: Int
    let previous: String?
    let next: String?
    let mayPurge: Bool
    let emptyLink: String?
    /// The page that restores everything of the chosen class; nil if the viewer may not.
    let restoreAll: String?

    init(
        _ found: TrashGroups.Page, _ schema: Schema, classNames: [String], chosen: String?, page: Int, mayPurge: Bool,
        restoreAll: String?, now: Int64
    ) {
        classes = classNames.map { ClassChoice(name: $0, title: ClassTitle.words($0), isChosen: $0 == chosen) }
        chosenTitle = chosen.map { ClassTitle.words($0) }
        entries = found.entries.map { Entry($0, schema, now: now) }
        self.page = page
        let query = chosen.map { "class=\($0)&" } ?? ""
        previous = page > 1 ? "/panel/trash?\(query)page=\(page - 1)" : nil
        next = found.hasMore ? "/panel/trash?\(query)page=\(page + 1)" : nil
        self.mayPurge = mayPurge
        self.restoreAll = found.entries.isEmpty ? nil : restoreAll
        emptyLink = mayPurge ? "/panel/trash/empty\(chosen.map { "?class=\($0)" } ?? "")" : nil
    }
}
