import ArgumentParser

struct SignOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "Deletes the conversation from this device.",
        discussion: "Deletes the file with every message in it, including unsent questions. This can't be undone.")

    @OptionGroup var data: DataOptions

    @MainActor
    func run() async throws {
        let folder = try data.folder
        print(try ChatStore.wipe(folder: folder) ? "The conversation was deleted." : "There was nothing to delete.")
    }
}
