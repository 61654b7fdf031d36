import TomboloLocalization
import TomboloModel
import TomboloServerModel

/// The values for the template `documents`: the model and rules as loaded, and their history.
struct DocumentsContent: Sendable {
    struct App: Sendable {
        let name: String
        let classes: String
        let modelLink: String?
        let rulesLink: String?
        var changeLink: String?
    }

    struct Version: Sendable {
        let version: Int64
        let app: String
        let kind: String
        let added: Moment
        let by: String
        /// How a tool treated changes that were made here.
        let note: String?
        let before: Int64?
        let isNewest: Bool

        init(_ found: DocumentVersion, now: Int64) {
            version = found.version
            app = found.app
            kind =
                switch found.kind {
                case .models: localized("models")
                case .rules: localized("rules")
                }
            added = Moment(found.addedAt, now: now)
            by = found.accountName ?? found.account ?? localized("a tool")
            note = found.note
            before = found.before
            isNewest = found.isNewest
        }
    }

    /// Which version the server has loaded, in words.
    let loaded: String
    var apps: [App]
    /// The variable that would let models be changed here; shown to users who could.
    var missingVariable: String?
    let versions: [Version]
    let page: Int
    let previous: String?
    let next: String?

    /// - Parameter newest: the newest document of each app and kind.
    init(
        _ model: ServerModel, newest: [StoredDocument], history: (versions: [DocumentVersion], hasMore: Bool),
        page: Int,
        now: Int64
    ) {
        let live = model.models.mapValues { $0.classes.filter { !$0.isRetired }.map(\.name) }
        let classCount = Set(live.values.joined()).intersection(model.schema.classes.map(\.name)).count
        let names = Set(model.models.keys).union(model.ruleDocuments.keys).sorted()
        let classCountText = localized(classCount, one: "\(classCount) class", other: "\(classCount) classes")
        let appCountText = localized(names.count, one: "\(names.count) app", other: "\(names.count) apps")
        loaded = localized(
            "This server has loaded version \(model.version): \(classCountText) in \(appCountText).")
        apps = names.map { name in
            func link(_ kind: DocumentKind) -> String? {
                newest.first { $0.app == name && $0.kind == kind }.map { "/panel/documents/\($0.version)" }
            }
            return App(
                name: name, classes: (live[name] ?? []).sorted().joined(separator: ", "),
                modelLink: link(.models), rulesLink: link(.rules))
        }
        versions = history.versions.map { Version($0, now: now) }
        self.page = page
        previous = page > 1 ? "/panel/documents?page=\(page - 1)" : nil
        next = history.hasMore ? "/panel/documents?page=\(page + 1)" : nil
    }
}
