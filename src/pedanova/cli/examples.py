"""What people type: the examples that every command's help ends with. The tests run them."""

EXAMPLES = """examples:
  pedanova demo
  pedanova analyze trials.csv --objective error
  pedanova densities trials.csv learning_rate --objective error
  pedanova report trials.csv --objective error -o report.html
"""
ANALYZE_EXAMPLES = """examples:
  pedanova analyze trials.csv --objective error --exclude seed,train_seconds
  pedanova analyze trials.parquet --objective accuracy --direction maximize \\
      --target 0.01 --region 0.1
  pedanova analyze trials.csv --objective error --format json -o importance.json
  pedanova analyze trials.csv --objective error --format arrow -o importance.arrow
  pedanova analyze trials.csv --objective error \\
      --where "epochs >= 10 and optimizer == 'adam'"
  pedanova analyze trials.csv --objective loss --objective latency --feasible memory_over
  pedanova analyze optuna.db --study mlp --target 0.05
"""
PROFILE_EXAMPLES = """examples:
  pedanova profile trials.csv --objective error
  pedanova profile trials.csv --objective error --region 0.5
  pedanova profile trials.csv --objective error --estimator counts
  pedanova profile trials.csv --objective error --ladder 0.01,0.05,0.1,0.25
  pedanova profile trials.csv --objective error --format csv -o profile.csv
"""
INTERACTIONS_EXAMPLES = """examples:
  pedanova interactions trials.csv --objective error
  pedanova interactions trials.csv --objective error --target 0.2 --top 5
  pedanova interactions trials.csv --objective error --params learning_rate,layers
  pedanova interactions trials.csv --objective error --order 3
"""
DENSITIES_EXAMPLES = """examples:
  pedanova densities trials.csv --objective error
  pedanova densities trials.csv learning_rate optimizer --objective error --target 0.05
  pedanova densities trials.csv layers --objective error --format csv
"""
REPORT_EXAMPLES = """examples:
  pedanova report trials.csv --objective error -o report.html
  pedanova report optuna.db --study mlp -o report.html
  pedanova report trials.csv --objective error --target 0.05 --title "My search"
  pedanova report trials.csv --objective error --group optimizer
"""
EXPLORE_EXAMPLES = """examples:
  pedanova explore trials.csv --objective error
  pedanova explore optuna.db --study mlp --target 0.05
  pedanova explore trials.parquet --objective accuracy --port 8080 --no-open
  pedanova explore optuna.db --watch
  pedanova explore trials.csv --objective error --group optimizer
"""
COMPARE_EXAMPLES = """examples:
  pedanova compare trials.csv --objective error --exclude seed,train_seconds
"""
REDUCE_EXAMPLES = """examples:
  pedanova reduce trials.csv --objective error
  pedanova reduce trials.csv --objective error --to code
  pedanova reduce optuna.db --study mlp --to wandb -o sweep.yaml
"""
ACROSS_EXAMPLES = """examples:
  pedanova across trials.csv --objective error --group optimizer
  pedanova across trials.csv --objective error --group seed --format csv
  pedanova across trials.csv trials.parquet --objective error --estimator counts
"""
DIFFERENCE_EXAMPLES = """examples:
  pedanova difference trials.csv trials.parquet --objective error
"""
SPACE_EXAMPLES = """examples:
  pedanova space trials.csv --objective error -o space.json
"""
DEMO_EXAMPLES = """examples:
  pedanova demo
  pedanova demo --report report.html
  pedanova demo --explore
"""
ALONG_EXAMPLES = """examples:
  pedanova along trials.csv --objective error --budget epochs
  pedanova along trials.csv --objective error --budget epochs --at 5,10,20 --target 0.2
  pedanova along optuna.db --study mlp --budget step
"""
SEEDS_EXAMPLES = """examples:
  pedanova seeds trials.csv --objective error --params layers,optimizer
"""
