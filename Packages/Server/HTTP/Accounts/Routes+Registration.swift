import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloLocalization

extension Routes {
    /// E-mail and password routes for people who aren't logged in:
    ///
    ///     POST /register      {"email", "password", "name"?} → {"status": "pending" or "confirmed"}
    ///     POST /confirm       {"token", "tokenID"}, as mailed
    ///     POST /confirm/send  {"email"}
    ///     POST /reset/send    {"email"}
    ///     POST /reset         {"token", "tokenID", "password"}
    ///
    /// Routes that send mail answer the same whether or not the address has an account.
    func addRegistration(_ authenticator: Authenticator) {
        on(.post, "/register", access: .open(because: localized("this is where accounts come from"))) {
            request, context, _ in
            let body = try await request.json(RegisterRequest.self, context)
            let isConfirmed = try await authenticator.requestRegistration(
                email: body.email, password: body.password, name: body.name, address: context.remoteAddress)
            return JSONAnswer(
                ["status": isConfirmed ? "confirmed" : "pending"], status: isConfirmed ? .created : .accepted)
        }
        on(.post, "/confirm", access: .open(because: localized("it requires a mailed token"))) { request, context, _ in
            let body = try await request.json(MailTokenRequest.self, context)
            try await authenticator.confirm(
                token: body.token, tokenID: body.tokenID, address: context.remoteAddress)
            return HTTPResponse.Status.noContent
        }
        on(.post, "/confirm/send", access: .open(because: localized("it only sends mail to the owner of an address"))) {
            request, context, _ in
            let body = try await request.json(EmailRequest.self, context)
            try await authenticator.resendConfirmation(email: body.email, address: context.remoteAddress)
            return JSONAnswer(["status": "pending"], status: .accepted)
        }
        on(.post, "/reset/send", access: .open(because: localized("it only sends mail to the owner of an address"))) {
            request, context, _ in
            let body = try await request.json(EmailRequest.self, context)
            try await authenticator.sendReset(email: body.email, address: context.remoteAddress)
            return JSONAnswer(["status": "pending"], status: .accepted)
        }
        on(.post, "/reset", access: .open(because: localized("it requires a mailed token"))) { request, context, _ in
            let body = try await request.json(ResetRequest.self, context)
            try await authenticator.reset(
                password: body.password, token: body.token, tokenID: body.tokenID, address: context.remoteAddress)
            return HTTPResponse.Status.noContent
        }
    }
}

private struct RegisterRequest: Decodable {
    var email: String
    var password: String
    var name: String?
}

private struct MailTokenRequest: Decodable {
    var token: String
    var tokenID: String
}

private struct ResetRequest: Decodable {
    var token: String
    var tokenID: String
    var password: String
}

private struct EmailRequest: Decodable {
    var email: String
}
