import Foundation
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// A form about several objects, from the list to the last button. The server keeps nothing between its pages.
struct BulkForm {
    enum Step: String {
        /// Sent from the list, or from the page that chooses the fields of an update.
        case choose
        /// Asks for a preview.
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
    /// The prefix for the name of a field that an update sets.
    static let setPrefix = "set."

    let step: Step
    /// The action, as named in the body of a bulk request.
    let action: String
    /// The entered reason for moving the objects to the trash.
    let reason: String
    /// Whether it's about all objects that match the filters in the address.
    let isAll: Bool
    private(set) var ids: [String]
    private let expected: (count: Int64, version: String)?
    /// The submitted values that an update sets.
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

    /// Whether no objects are chosen.
    var isEmpty: Bool { !isAll && ids.isEmpty }

    /// Drops ids of objects that no longer exist.
    /// - Parameter present: the ids of existing objects, as texts.
    mutating func keep(_ present: Set<Value>) { ids.removeAll { !present.contains(.string($0)) } }

    /// The value of ``pageField`` for the objects of a page. Ids may contain any text.
    static func pageValue(_ ids: [String]) -> String { ids.map(RequestParameters.encode).joined(separator: " ") }

    /// The equivalent body of a bulk request.
    /// - Parameter data: the values that an update sets.
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

    /// The hidden fields for the next page's form.
    /// - Parameter trial: the result of a dry run, which the real run must match.
    func hidden(_ step: Step, keepsFields: Bool = true, expecting trial: JSON? = nil) -> [[String: Any]] {
        var fields = [
            (Self.stepField, step.rawValue), (Self.actionField, action), (Self.whichField, isAll ? "all" : "chosen"),
        ]
        if !isAll { fields += ids.map { (Self.idField, $0) } }
        if keepsFields { fields += self.fields.map { ($0.name, $0.value) } }
        // The page with the last button has its own field for the reason.
        if step != .start, !reason.isEmpty { fields.append((Self.reasonField, reason)) }
        if let trial {
            fields.append((Self.countField, String(trial["count"]?.number ?? 0)))
            fields.append((Self.versionField, trial["version"]?.text ?? ""))
        }
        return fields.map { ["name": $0.0, "value": $0.1] }
    }
}
