import AdminService
import TomboloLocalization
import TomboloServerModel

/// The submitted documents of an app: texts, or files in their place.
struct ModelChangeForm: Sendable {
    private(set) var models: String
    private(set) var rules: String
    /// The ``ModelBasis/version`` that the texts are based on.
    let basis: String
    var wish: ModelWish
    /// Problems of the submission itself, independent of what the documents say.
    private(set) var problems: [String] = []

    /// The form of a freshly opened page.
    init(_ basis: ModelBasis) {
        models = basis.modelsText
        rules = basis.rulesText
        self.basis = basis.version
        wish = ModelWish()
    }

    /// The form for retrying a change that wasn't carried out.
    init(_ edit: DocumentEdit, over basis: ModelBasis) {
        self.init(basis)
        models = edit.models ?? models
        rules = edit.rules ?? rules
    }

    /// - Parameters:
    ///   - stored: the documents in use; they replace a text that wasn't sent.
    ///   - limit: the maximum size of both texts together, in bytes.
    init(_ form: PanelForm, over stored: ModelBasis, limit: Int) {
        models = form["models"].map(ModelBasis.lines) ?? stored.modelsText
        rules = form["rules"].map(ModelBasis.lines) ?? stored.rulesText
        basis = form["basis"] ?? ""
        wish = ModelWish(form)
        take(form.file("modelsFile"), as: \.models)
        take(form.file("rulesFile"), as: \.rules)
        let count = models.utf8.count + rules.utf8.count
        if count > limit {
            problems.append(
                localized(
                    "The texts have \(PanelNumber.text(count)) bytes together. The limit here is "
                        + "\(PanelNumber.text(limit)): use 'migration-tool apply' for larger ones."))
        }
    }

    private mutating func take(_ file: PanelForm.File?, as text: WritableKeyPath<ModelChangeForm, String>) {
        guard let file else { return }
        guard let content = String(validating: file.bytes, as: UTF8.self), !file.bytes.contains(0) else {
            problems.append(
                localized("The file \(file.fileName) isn't UTF-8 text, so the text was left unchanged."))
            return
        }
        self[keyPath: text] = ModelBasis.lines(content)
    }

    /// The form with a new text of the model and an empty small form.
    func with(models: String) -> ModelChangeForm {
        var copy = self
        copy.models = models
        copy.wish = ModelWish()
        return copy
    }

    /// The differences from the documents in use; nil if there are none.
    func edit(of app: String, over stored: ModelBasis, by account: String) -> DocumentEdit? {
        let models = models == stored.modelsText ? nil : models
        let rules = rules == stored.rulesText ? nil : rules
        guard models != nil || rules != nil else { return nil }
        return DocumentEdit(app: app, models: models, rules: rules, account: account)
    }
}
