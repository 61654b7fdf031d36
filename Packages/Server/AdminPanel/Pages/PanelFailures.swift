import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloRules
import TomboloServerModel
import TomboloLocalization

/// Turns failures into pages: the login page if there is no session, the password page if a password is demanded, and
/// otherwise a page that says what went wrong, why, and what to do.
struct PanelFailures: Sendable {
    private static let failure = PanelTemplate(PackageResources.failure_mustache)
    private static let password = PanelTemplate(PackageResources.password_mustache)

    let core: PanelCore

    var format: FailureFormat {
        FailureFormat { failure, request, context in
            var response = await response(failure, request, context)
            // The session may have got a new cookie before the rest failed.
            (failure.session as? PanelVisit)?.setCookie(in: &response, context)
            return response
        }
    }

    private func response(_ failure: RequestFailure, _ request: Request, _ context: EdgeContext) async -> Response {
        let visit = failure.session as? PanelVisit
        if failure.code == .unauthenticated, visit == nil { return logIn(request, context) }
        if let page = PanelGate.page(of: failure) { return PanelAnswer.redirection(to: address(of: page, request)) }
        if failure.code == .passwordRequired, let visit {
            return show(passwordPage(failure, request, visit), request, context, visit)
        }
        var values: [String: Any] = ["message": failure.message, "requestID": context.id]
        if let hint = failure.shownHint { values["hint"] = hint }
        if !failure.others.isEmpty { values["others"] = failure.others.map { ["message": $0.message] } }
        if let visit, visit.session.isComplete { values["boxes"] = boxes(failure, visit.subject) }
        if let visit, let entered = await entered(failure, request, visit) { values["entered"] = entered }
        let page = PanelPage(
            Self.title(failure), content: Self.failure.render(values), status: failure.code.status)
        var response = show(page, request, context, visit)
        if failure.code.canRetry { response.headers[.retryAfter] = String(failure.retryAfterSeconds ?? 1) }
        if failure.code == .methodNotAllowed { response.headers[.cacheControl] = "no-store" }
        return response
    }

    private func show(
        _ page: PanelPage, _ request: Request, _ context: EdgeContext, _ visit: PanelVisit?
    ) -> Response {
        let layout = PanelLayout(core: core)
        // The frame reveals what the user may read, so it's left out until the login is complete.
        guard let visit, visit.session.isComplete else { return layout.response(page) }
        let request = PanelRequest(request: request, context: context, visit: visit, core: core)
        return (try? layout.response(page, to: request)) ?? layout.response(page)
    }

    private static func title(_ failure: RequestFailure) -> String {
        switch failure.code.status {
        case .forbidden: localized("Not permitted")
        case .notFound: localized("Not found")
        case .conflict: localized("Conflict")
        case .tooManyRequests: localized("Too many attempts")
        case let status where status.kind == .serverError: localized("The server has a problem")
        default: localized("That didn't work")
        }
    }

    /// The boxes of permission matrices that would permit the refused request, with links for users who may see the
    /// matrix.
    private func boxes(_ failure: RequestFailure, _ subject: Subject) -> [[String: Any]] {
        guard failure.code == .forbidden, !failure.purposes.isEmpty, let model = core.models?.current else { return [] }
        return model.matrices.sorted { $0.key < $1.key }.flatMap { app, matrix in
            let maySee = model.refusal(subject, .read, ofMatrixOf: app) == nil
            // Don't reveal which other apps exist.
            guard maySee || model.matrices.count == 1 else { return [] as [[String: Any]] }
            return matrix.services.flatMap { service in
                PermissionMatrix.operations.filter { !service.purposes(of: $0).isDisjoint(with: failure.purposes) }
                    .map { operation -> [String: Any] in
                        let (verb, name) = (operation.verb, ClassTitle.service(service.name))
                        return [
                            "text": localized(
                                "A role gets this from the box '\(verb)' of '\(name)' in the permissions of \(app)."),
                            "path": maySee ? PermissionLinks(app).grid : false,
                        ]
                    }
            }
        }
    }

    // MARK: Input that would be lost

    /// What was entered into a record's form, for instance by somebody who has since lost the right to change the
    /// record.
    private func entered(
        _ failure: RequestFailure, _ request: Request, _ visit: PanelVisit
    ) async -> [String: Any]? {
        let values = EnteredValues(visit.form)
        guard !values.all.isEmpty, let view = try? core.view(of: visit.subject) else { return nil }
        // `/panel/data/sessions/…`
        let parts = request.uri.path.split(separator: "/").compactMap { $0.removingPercentEncoding }
        let type = parts.count > 2 ? view.types[parts[2]] : nil
        var content: [String: Any] = ["values": await values.shown(type, RecordReader(view: view, pool: core.pool))]
        switch failure.code {
        case .forbidden: content["reason"] = localized("You may no longer change this.")
        case .notFound: content["reason"] = localized("It was removed, or you may no longer see it.")
        default: break
        }
        return content
    }

    // MARK: Who isn't logged in

    private func logIn(_ request: Request, _ context: EdgeContext) -> Response {
        guard request.method == .get || request.method == .head else {
            // The page that the form was on, if the browser says.
            let referrer = request.headers[.referer].flatMap { URL(string: $0) }
            let next = PanelPath.checked(referrer?.path(percentEncoded: true)) ?? AdminPanel.path
            return LoginPages.page(
                core: core, next: next,
                message: localized("Your session has ended. Log in again; what you sent wasn't saved."),
                status: .unauthorized)
        }
        let next = PanelPath.checked(request.uri.string) ?? AdminPanel.path
        let response = PanelAnswer.redirection(to: LoginPages.address(next: next))
        return response
    }

    /// The page that asks for the second factor, and then leads back.
    private func address(of page: String, _ request: Request) -> String {
        guard page == CodePages.path, request.method == .get else { return page }
        return CodePages.address(next: PanelPath.checked(request.uri.string) ?? AdminPanel.path)
    }

    // MARK: The password again

    /// A page whose form repeats the whole request to the same address, with the password added.
    private func passwordPage(_ failure: RequestFailure, _ request: Request, _ visit: PanelVisit) -> PanelPage {
        let isForm = request.method == .post
        var values: [String: Any] = [
            "message": failure.message, "isWrong": visit.form[PanelForm.passwordField] != nil,
            "action": isForm ? request.uri.string : LoginPages.passwordPath, "email": visit.session.email,
            "asksCode": visit.session.hasSecondFactor,
            "formToken": visit.token.formToken, "minutes": Int(PanelDemand.minutes),
            "fields": visit.form.content.map { ["name": $0.name, "value": $0.value] },
        ]
        // The other form encoding makes long texts up to three times as long.
        values["isMultipart"] = request.headers[.contentType].flatMap { MultipartDecoder(contentType: $0) } != nil
        // Files can't be sent again.
        let lost = visit.form.files.filter { !$0.fileName.isEmpty }.map { file in
            ClassTitle.words(file.name.hasPrefix("f.") ? String(file.name.dropFirst(2)) : file.name)
        }
        if !lost.isEmpty { values["lost"] = lost.joined(separator: ", ") }
        values["isLost"] = !lost.isEmpty
        if !isForm { values["fields"] = [["name": LoginPages.nextField, "value": request.uri.string]] }
        return PanelPage(
            localized("Enter your password"), content: Self.password.render(values), status: failure.code.status)
    }
}
