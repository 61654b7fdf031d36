import Foundation
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// What a form says that is about several objects, from the list to the last button: nothing is kept on the server
/// between its pages.
struct BulkForm {
    enum Step: String {
        /// The list, or the fields that an update sets.
        case choose
        /// To be shown what would happen.
        case attempt = "try"
        case start
    }

    private static let stepField = "step"
    private static let idField = "id"
    private static let pageField = "on-page"
    private static let whichField = "which"
    private static let actionField = "action"
    private static let reasonField = "reason"
    private static let countField = "expect-count"
    private static let versionField = "expect-version"
    /// Before the name of a field that an update sets.
    static let setPrefix = "set."

    let step: Step
    /// As in the body of a bulk request.
    let action: String
    /// Why the objects go into the trash, as it was entered.
    let reason: String
    /// Whether it's about all that match the filters in the address.
    let isAll: Bool
    private(set) var ids: [String]
    private let expected: (count: Int64, version: String)?
    /// What an update sets, as it was sent.
    private let fields: [PanelForm.Field]

    init(_ form: PanelForm) {
        step = form[Self.stepField].flatMap(Step.init) ?? .choose
        action = form[Self.actionField] ?? ""
        reason = form[Self.reasonField] ?? ""
        let which = form[Self.whichField]
        isAll = which == "all"
        ids =
            which == "page"
            ? (form[Self.pageField] ?? "").split(separator: " ").compactMap { String($0).removingPercentEncoding }
            : form.values(Self.idField)
        let count = form[Self.countField].flatMap { Int64($0) }
        expected = count.flatMap { count in form[Self.versionField].map { (count, $0) } }
        fields = form.fields.filter { field in
            ["f.", "q.", Self.setPrefix].contains { field.name.hasPrefix($0) }
        }
    }

    /// Whether it's about nothing.
    var isEmpty: Bool { !isAll && ids.isEmpty }

    /// Leaves out what isn't there any more.
    /// - Parameter present: the ids of what is, as texts.
    mutating func keep(_ present: Set<Value>) { ids.removeAll { !present.contains(.string($0)) } }

    /// The value of ``pageField`` for the objects of a page. Ids may be any text.
    static func pageValue(_ ids: [String]) -> String { ids.map(RequestParameters.encode).joined(separator: " ") }

    /// The body of a bulk request that means the same.
    /// - Parameter data: what an update sets.
    func body(_ data: JSON?, isDryRun: Bool) -> JSON {
        var body: [String: JSON] = ["action": .string(action), "dryRun": .bool(isDryRun)]
        if isAll { body["all"] = true } else { body["ids"] = .array(ids.map(JSON.string)) }
        body["data"] = data
        if action == "trash" { body["reason"] = .string(reason) }
        if !isDryRun, let expected {
            body["expect"] = ["count": .int(expected.count), "version": .string(expected.version)]
        }
        return .object(body)
    }

    /// What the next page's form sends again.
    /// - Parameter trial: what a dry run found, which the real one must find too.
    func hidden(_ step: Step, keepsFields: Bool = true, expecting trial: JSON? = nil) -> [[String: Any]] {
        var fields = [
            (Self.stepField, step.rawValue), (Self.actionField, action), (Self.whichField, isAll ? "all" : "chosen"),
        ]
        if !isAll { fields += ids.map { (Self.idField, $0) } }
        if keepsFields { fields += self.fields.map { ($0.name, $0.value) } }
        // The page with the last button has a field for it.
        if step != .start, !reason.isEmpty { fields.append((Self.reasonField, reason)) }
        if let trial {
            fields.append((Self.countField, String(trial["count"]?.number ?? 0)))
            fields.append((Self.versionField, trial["version"]?.text ?? ""))
        }
        return fields.map { ["name": $0.0, "value": $0.1] }
    }
}
