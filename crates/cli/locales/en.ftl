# Words of vram in English. Numbers come here already formatted.

# Verdicts
verdict-fits = Fits.
verdict-tight = Tight.
verdict-does-not-fit = Does not fit.
sentence-fits = { $model } on { $machine }, { $spare } GiB to spare
sentence-tight = { $model } on { $machine }: only the lower end of the estimate fits the { $usable } GiB of { $memory }
sentence-does-not-fit = { $model } needs { $need } GiB on { $memory }: short by { $short }

# Blocks
block-memory = memory
block-limits = limits
block-run = run
block-assumed = assumed
block-why = why
heading-why = why
row-total = total
unit-gib = GiB
memory-ram = RAM
memory-unified = memory
machine-cpu = the CPU
bar-legend = blue weights, cyan KV cache, magenta buffers, white runtime and others

# A model, explained
block-parameters = parameters
block-parts = by part
block-files = files
block-sizes = sizes
block-components = parts
block-weights = weights
block-layers = layers
block-keeps = keeps
block-model = model
block-tensors = tensors
size-published = safetensors, as published
size-quantised = safetensors, quantised whole
size-gguf = GGUF by recipe (uploads may differ)
size-mlx = MLX
stage-encode = encode
stage-denoise = denoise
stage-decode = decode
pipeline-bits = of every part
pipeline-resident = all resident
pipeline-stage = largest part alone
pipeline-of-bits = { $bits } bits a value
pipeline-limits = Resolution, frames and what is computed on the way are not modelled yet, so there is no verdict. Largest part alone: when each part is loaded for its stage and taken away after it.
local-model = model
local-keeper = of
local-size = on disk
local-quant = quant
local-fit = on this hardware
local-none = no models on this disk
local-places = looked in the caches of the hub and llama.cpp, and in the folders of Ollama and LM Studio
local-fits = fits, { $gib } GiB
local-tight = tight, { $gib } GiB
local-does-not-fit = too big, { $gib } GiB
local-not-planned = not planned yet
local-sum = { $n ->
    [one] { $n } model, { $gb } GB
   *[other] { $n } models, { $gb } GB
}
local-next = plan one by its name: vram plan NAME
keeper-hub = hub
keeper-ollama = Ollama
keeper-lm-studio = LM Studio
keeper-llama-cpp = llama.cpp
progress-reading = reading { $file } ({ $number } of { $of })
form-catalogue = from the catalogue
form-config = from its config.json
form-safetensors = from its config.json and safetensors files
form-gguf = from its GGUF file
form-pipeline = diffusion pipeline, from the catalogue
count-built = built
count-active = active for a token
count-stored = stored
count-packed = several weights in one stored value
beyond-ahead = layers ahead
beyond-copy = copy of a tied head
beyond-buffers = buffers
beyond-scales = scales
beyond-built = stored, not built
part-embedding = embedding
part-positions = position embedding
part-per-layer = per-layer embedding
part-per-layer-projection = per-layer projection
part-attention = attention
part-recurrent = recurrent mixers
part-ffn = feed-forward
part-experts = experts
part-shared = shared expert
part-router = router
part-norms = norms
part-head = output head
part-vision = vision tower
part-audio = audio tower
part-projector = projector
part-other = other
layers-count = { $count } { $count ->
    [1] layer
   *[other] layers
}
mixer-attention = attention: { $heads } heads, { $kv } KV heads of { $dim }
mixer-window = attention in a window of { $tokens } tokens: { $heads } heads, { $kv } KV heads of { $dim }
mixer-chunks = attention in chunks of { $tokens } tokens: { $heads } heads, { $kv } KV heads of { $dim }
mixer-sharing = attention over another layer's cache: { $heads } heads, { $kv } KV heads of { $dim }
mixer-latent = latent attention: { $heads } heads, rank { $rank } + { $rope } rotary
mixer-compressed = attention over { $window } tokens and one row for { $ratio } before them: { $heads } heads of { $dim }
mixer-bidirectional = attention both ways: { $heads } heads of { $dim }
mixer-scored = { $a }; { $heads } heads of { $dim } pick { $top } tokens
mixer-cross-alone = attention over another input
mixer-cross = { $a }; and over another input
mixer-parallel = { $a }; beside it { $b }
mixer-mamba = Mamba
mixer-mamba2 = Mamba 2
mixer-delta = gated delta net
mixer-wkv = RWKV
mixer-kimi = Kimi delta attention
mixer-lightning = lightning attention
mixer-gated = gated linear recurrence
mixer-conv = short convolution
ffn-dense = feed-forward of { $width }
ffn-experts = { $used } of { $count } experts of { $width }
ffn-experts-shared = { $used } of { $count } experts of { $width }, and { $shared } shared
keeps-token = keeps { $bytes } a token
keeps-state = keeps { $bytes } a sequence
keeps-all-token = KV cache { $bytes } a token in f16, inside every window
keeps-all-state = recurrent state { $bytes } a sequence in f32
model-inputs = input
model-context = made for
model-width = width
model-vocab = vocabulary
model-tied = { $n }, the head shares the embedding
model-untied = { $n }, the head has a table of its own
model-ahead = layers ahead
model-ahead-layers = { $count } for multi-token prediction, not built
tokens = { $n } tokens
input-text = text
input-image = images
input-audio = audio
assumed-rules = type of model not known: read by the rules of { $type }
assumed-rules-in-part = type of model not known: its language model is read by the rules of { $type }, and what stands beside it is not counted
assumed-class = not in the config, filled by the library's class:

# Items
item-weights = weights
item-kv-cache = KV cache
item-index-keys = index keys
item-recurrent-state = recurrent state
item-compute-buffer = compute buffer
item-output-buffer = output buffer
item-context = { $backend } context
item-runtime = runtime

# Details of a row
detail-cache = { $tokens } tokens, { $formats }
detail-window = window, { $tokens } cells, { $formats }
detail-state = { $layers } layers, f32
detail-batch = { $tokens }-token batches
detail-outputs = { $rows } { $rows ->
    [1] row
   *[other] rows
} of logits
remark-embedding = embedding in RAM
remark-per-token = { $bytes } a token
remark-fitted = fitted, { $runs } { $n ->
    [1] run
   *[other] runs
}

# Reasons
why-weights = { $tensors } tensors of { $layers } layers, mostly { $format }
why-weights-ends = { $tensors } { $tensors ->
    [1] tensor
   *[other] tensors
} outside the layers, mostly { $format }
why-cache = { $layers } layers, { $cells } cells in { $streams } { $streams ->
    [1] stream
   *[other] streams
}, { $bytes } bytes a token
why-state = { $layers } layers keep a state of fixed size for { $sequences } { $sequences ->
    [1] sequence
   *[other] sequences
}
why-live-set = the largest set of tensors alive at once over { $tokens } tokens: { $peak }
why-outputs = { $rows } x { $width } values handed to the program
why-driver-units = what the driver holds for a process on { $units } multiprocessors
why-driver = what the driver holds for a process
peak-logits = logits
peak-feed-forward = the feed-forward part
peak-experts = the chosen experts
peak-attention = attention
peak-recurrence = a recurrent layer
peak-inputs = inputs of the graph
basis-exact = exact: counted from the model
basis-rule = rule: { $source }
basis-fitted = fitted: { $inside }% of { $runs } measurements inside the band ({ $source })
basis-assumed = assumed

# Limits
limit-context = longest context that fits here { $tokens } tokens: { $gib } GiB
limit-models-own = longest context here { $tokens } tokens (the model's own): { $gib } GiB
limit-none = no context fits with these settings

# Assumptions
assumed-quant = quant { $quant } (--quant)
assumed-context = context { $tokens } (--context)
assumed-engine = { $engine } { $version }, llama-server
assumed-no-projector = without its projector ({ $gib } GiB)
assumed-no-adapter = without its adapter ({ $gib } GiB)
assumed-no-draft = without its draft model ({ $gib } GiB)
assumed-nothing-else = nothing else on the card (--used)
assumed-ram = { $gib } GiB of RAM (--ram)
assumed-kept = { $gib } GiB kept for the system (--reserve)
assumed-total = the driver shows { $gib } GiB of { $device }, as others of its kind
assumed-limit = the GPU may use { $gib } GiB, the default limit

# vram alone
home-ram-name = System RAM
home-ram = { $total } GiB   { $free } free
home-cpu-name = Processor
home-gpu-name = GPU
home-gpu = not looked for yet: name yours with --on
home-nothing = no model of the catalogue fits the free memory
home-heading = runs here, on the processor
home-next = next
home-next-plan = memory and command
home-next-on = the same on a card
home-next-help = all commands

# Hardware
heading-id = id
heading-name = name
heading-gb = GB
heading-gbs = GB/s
devices-count = { $count } { $count ->
    [1] device
   *[other] devices
}
fact-memory = memory
fact-driver = driver shows
fact-bandwidth = bandwidth
fact-units = units
fact-fp16 = FP16, dense
fact-target = target
fact-pcie = slot
fact-link = link
fact-power = power
fact-year = year
fact-names = also called
fact-sources = sources
fact-notes = notes

# Errors: what
error-folder = the folder { $name } cannot be written
error-unknown-model = no model is called "{ $name }"
error-several-models = "{ $name }" is several models
error-models-what = say what to do with models
error-pipeline = "{ $name }" is a diffusion pipeline: those are not planned yet
error-hub-offline = "{ $name }" is not on this disk, and nothing may be fetched
error-hub-not-found = no repository "{ $name }" on the hub, or a private one
error-hub-gated = the hub does not give "{ $name }" to everybody
error-hub-limited = the hub has had too many requests
error-hub-quant = "{ $name }" has no file of this quantisation
error-hub-no-model = "{ $name }" has neither a config.json nor a GGUF file
error-hub-pipeline = "{ $name }" is a pipeline of several models: those are not planned yet
error-hub-unreachable = "{ $name }" could not be read from the hub
error-ollama = "{ $name }" of Ollama cannot be read
error-unknown-hardware = no hardware is called "{ $name }"
error-ambiguous-hardware = "{ $name }" is several different devices
error-needs-size = "{ $name }" is sold with different amounts of memory
error-not-sold-with = "{ $name }" is not sold with { $gb } GB
error-count = { $count } devices cannot be planned for
error-no-memory = how much memory "{ $name }" has is not known
error-unified = "{ $name }" shares its memory with the processor and is planned alone
error-file-missing = there is no file { $name }
error-folder-empty = { $name } is a folder without a model
error-several-files = { $name } is a folder with several models
error-no-config = { $name } is no config of a model
error-config-missing = { $name } has no config.json beside it
error-contradiction = { $name } mixes two models
error-not-converted = { $name } cannot be planned yet: what a GGUF file of it holds is not known
error-not-planned = { $name } cannot be planned yet: what an engine keeps for its layers is not known
error-file-special = { $name } is no regular file
error-file-unreadable = { $name } cannot be read
error-file-kind = { $name } is no model file
error-file-empty = { $name } is empty
error-file-short = { $name } ends too early
error-file-broken = { $name } is broken
error-part-missing = { $name } is split, and { $part } is missing
error-not-first-part = { $name } is not the first part of a split model
error-unknown-arch = { $name } has an architecture that is not understood: { $arch }
error-no-arch = { $name } does not say which architecture it has
error-bad-key = { $name } describes no model that is understood
error-quant-of-file = --quant { $quant } cannot be applied: { $name } is a file with formats of its own
error-quant-twice = --quant { $quant } says another quantisation than the name { $name }
error-no-recipe = no rule of llama.cpp makes "{ $tag }"
error-detection = this machine's memory cannot be read
error-no-context = a context needs at least 1 token
error-no-sequences = at least 1 sequence is needed
error-no-batch = a batch needs at least 1 token
error-context-too-long = --context { $asked } is more than { $model } was made for ({ $trained } tokens)
error-values-need-flash = a { $format } V cache needs flash attention
error-unequal-cache = { $model } keeps one row for K and V: they cannot be { $k } and { $v }
error-cache-blocks = a cache of { $format } is not possible: { $values } values do not divide into its blocks
error-cache-format = llama.cpp keeps no cache as { $format }
error-context-too-large = a context of { $context } tokens is more than llama.cpp can count ({ $most })
error-outputs = { $outputs } rows of logits are too few for { $sequences } sequences
error-pattern = "{ $pattern }" is no pattern that can be used
error-no-such-card = there is no card { $card }: the machine has { $cards }
error-no-backend = llama.cpp has no backend for { $device }

# Errors: why
why-cause = { $cause }
why-hub-quants = it has { $quants }
why-sizes = sold with { $sizes } GB
why-and-more = and { $count } more
why-stops-at-once = the file stops before its header says anything
why-stops-in-key = the header promises { $of } metadata keys, the file stops inside the { $number }
why-stops-in-tensor = the header promises { $of } tensors, the file stops inside the { $number }
why-part = it is the { $number } of { $count } parts, or was renamed
why-weights-known = its { $n ->
    [1] one tensor takes
   *[other] { $tensors } tensors take
} { $gib } GiB; what its cache and buffers take cannot be told
why-data-missing = the header of { $file } promises { $promised } bytes, the file has { $found }

# Errors: what to do
hint-nearest = nearest: { $names }
hint-no-recipe = an uploader's own mix is named with its repository: MAKER/NAME:{ $tag }
hint-model-file = a GGUF file is named by its path, such as ./model.gguf
hint-models-show = what is known of one: vram models show NAME
hint-models-local = those on this disk: vram models --local
hint-pipeline = its parts and what they weigh: vram models show "{ $name }"
hint-hub-offline = names of the catalogue need no network: vram models show llama-3.1-8b
hint-hub-base = from the catalogue, in every usual form: vram models show { $name }
hint-hub-token = with an account on the hub: HF_TOKEN=hf_... vram ...
hint-hub-licence = accept its licence on its page first
hint-hub-wait = try again in { $seconds } seconds, or with HF_TOKEN set
hint-hub-later = try again later, or with HF_TOKEN set
hint-hub-quant = choose one by its quantisation: maker/name:Q8_0
hint-ollama = fetch it again with: ollama pull NAME
hint-list-hardware = list them all with: vram hardware list
hint-name-one = name one of them
hint-size = give the size: { $name }:{ $gb }gb
hint-fetch-again = the download is probably incomplete: fetch it again
hint-part-missing = all parts must lie in one folder
hint-first-part = name the part that ends in -00001-of-...
hint-file-kinds = models are read from .gguf and .safetensors files, a config.json, or a folder
hint-folder = a model is a .gguf file, or a config.json with or without .safetensors files
hint-config-missing = fetch the config.json of the same repository into the same folder
hint-contradiction = fetch both from one repository
hint-not-converted = its parameters and layers: vram models show { $name }
hint-unknown-arch = a newer vram may know it
hint-on = name the hardware with --on
hint-long-context = to plan it all the same: --allow-long-context
hint-values-need-flash = drop --flash-attention off, or keep the cache in f16
hint-pattern = give a regular expression without look-around, such as ffn_.*_exps
hint-cache-blocks = keep the cache in f16 or q8_0
