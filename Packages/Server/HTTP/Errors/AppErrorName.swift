/// RealmSwift's names for account errors: the names of `AppError.Code`'s cases.
public enum AppErrorName: String, Sendable {
    case accountNameInUse, apiKeyAlreadyExists, authError, authProviderNotFound, badRequest, functionExecutionError
    case internalServerError, invalidPassword, invalidSession, valueAlreadyExists, valueNotFound
}
