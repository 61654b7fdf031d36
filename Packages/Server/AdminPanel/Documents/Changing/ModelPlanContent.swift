import AdminService
import TomboloLocalization
import TomboloModel
import TomboloServerModel

/// The values for the template `model_plan`: what would happen, and the form to apply it.
struct ModelPlanContent: Sendable {
    struct Step: Sendable {
        let name: String
        let sql: String
        let isOutside: Bool
    }

    struct Diff: Sendable {
        let title: String
        /// Counts of the changes, or why there are no lines.
        let summary: String
        let lines: [DocumentContent.Line]
    }

    /// A value that the plan's form sends back.
    struct Field: Sendable {
        let name: String
        let value: String
    }

    let path: String
    let problem: String?
    let isEmpty: Bool
    let changes: [String]
    let losses: [String]
    /// The names of retired classes and properties.
    let retired: [String]
    let needsAgreement: Bool
    let isUnagreed: Bool
    let steps: [Step]
    let isAtomic: Bool
    let locked: [String]
    let lockSeconds: Int
    let notes: [String]
    let diffs: [Diff]
    let fields: [Field]
    let fingerprint: String

    /// - Parameters:
    ///   - problem: why the change wasn't started although somebody asked for it.
    ///   - isUnagreed: whether the box for consent wasn't ticked.
    init(
        _ plan: DocumentPlan, _ edit: DocumentEdit, over basis: ModelBasis, bounds: ModelChangeBounds,
        problem: String? = nil, isUnagreed: Bool = false
    ) {
        path = ModelChangePages.path(of: edit.app)
        self.problem = problem
        isEmpty = plan.steps.isEmpty
        changes = plan.changes
        losses = Self.losses(of: plan, edit)
        retired = plan.retired.map(Self.retired)
        needsAgreement = !losses.isEmpty
        self.isUnagreed = isUnagreed
        steps = plan.steps.map { step in
            Step(
                name: step.name, sql: step.sql.shortened(toByteCount: bounds.shownBytes),
                isOutside: !step.isTransactional)
        }
        isAtomic = plan.isAtomic
        locked = plan.locked.map(Self.locked)
        lockSeconds = plan.lockSeconds
        notes = plan.notes
        diffs = [
            Self.diff(localized("The model's text"), from: basis.modelsText, to: plan.models.map(ModelBasis.lines)),
            Self.diff(localized("The rules' text"), from: basis.rulesText, to: edit.rules),
        ].compactMap(\.self)
        let all: [(String, String?)] = [("models", edit.models), ("rules", edit.rules), ("basis", basis.version)]
        fields = all.compactMap { name, value in value.map { Field(name: name, value: $0) } }
        fingerprint = plan.fingerprint
    }

    /// The consequences that need explicit consent. New rules always do: they may lock out the person who applies them,
    /// along with everybody who could undo that.
    static func losses(of plan: DocumentPlan, _ edit: DocumentEdit) -> [String] {
        guard edit.rules != nil else { return plan.losses }
        return plan.losses + [
            localized(
                "From then on, these rules decide who may do what, and that includes you. If they take the permission "
                    + "matrix away from every super administrator, only somebody with the database's password can "
                    + "bring it back, with migration-tool apply --replace-boxes.")
        ]
    }

    private static func retired(_ count: DocumentPlan.Count) -> String {
        let (name, number) = (count.name, Self.number(count))
        return count.isPartial
            ? localized(
                count.rows, one: "\(name): at least \(number) row has it.",
                other: "\(name): at least \(number) rows have it.")
            : localized(
                count.rows, one: "\(name): \(number) row has it.", other: "\(name): \(number) rows have it.")
    }

    private static func locked(_ count: DocumentPlan.Count) -> String {
        let (name, number) = (count.name, Self.number(count))
        return count.isPartial
            ? localized(
                count.rows, one: "\(name): at least \(number) row", other: "\(name): at least \(number) rows")
            : localized(count.rows, one: "\(name): \(number) row", other: "\(name): \(number) rows")
    }

    private static func number(_ count: DocumentPlan.Count) -> String {
        PanelNumber.text(min(count.rows, DocumentPlan.Count.limit))
    }

    private static func diff(_ title: String, from old: String, to new: String?) -> Diff? {
        guard let new, new != old else { return nil }
        guard let diff = LineDiff(from: old, to: new) else {
            return Diff(
                title: title,
                summary: localized("The texts are too long or too different to compare line by line."), lines: [])
        }
        return Diff(
            title: title, summary: localized("Lines added: \(diff.added). Lines removed: \(diff.removed)."),
            lines: diff.lines.map(DocumentContent.Line.init))
    }
}
