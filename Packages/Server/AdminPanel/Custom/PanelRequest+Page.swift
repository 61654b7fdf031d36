import TomboloAuthentication

extension PanelRequest {
    /// A page of an app.
    /// - Parameter values: the values for the template, which also gets `formToken` for `{{> form-token}}`.
    public func page(
        _ title: String, crumbs: [PanelPage.Crumb] = [], _ template: PanelTemplate, _ values: [String: Any] = [:]
    ) -> PanelAnswer {
        let values = values.merging(["formToken": visit.token.formToken]) { $1 }
        return .page(PanelPage(title, crumbs: crumbs, content: template.render(values)))
    }
}
